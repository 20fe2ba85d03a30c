-- Returns whether a string is the token of a holdfast client: a UUID of version 8 with the mark d5
-- (engine.cpp), and a number. Tokens of other programs may have any form.
local function is_token_of_ours(text)
    return string.find(text, '^%x+%-%x+%-8fd5%-%x+%-%x+:%d+$') ~= nil
end
