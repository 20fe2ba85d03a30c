-- A counter (semaphore or latch) is a string that is a whole number, as Redis and Redisson write
-- it. A string such as '007' or '-0' belongs to another program, because INCRBY refuses it.

local function is_whole_number(text)
    return text == '0' or string.find(text, '^%-?[1-9]%d*$') ~= nil
end

-- Returns the key of the held permits, if the name belongs to a leased semaphore.
local function held_permits_of(name)
    return string.find(name, '{', 1, true) and name .. ':timeout' or '{' .. name .. '}:timeout'
end

-- Returns whether the string `text` at the key `name` is a counter. `left` is the TTL of the key
--   (-1: none). A number with a TTL may be a token of another program, unless leased permits are
--   held under the same name.
local function is_counter(name, text, left)
    return is_whole_number(text) and
        (left == -1 or redis.pcall('exists', held_permits_of(name)) == 1)
end
