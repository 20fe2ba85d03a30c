-- Whether a string is the token of a client of ours, which are of version 8 and have d5 behind that
-- (engine.cpp); other programs' look like anything.
local function is_token_of_ours(text)
    return string.find(text, '^%x+%-%x+%-8fd5%-%x+%-%x+:%d+$') ~= nil
end
