-- Fencing tokens of a mutex. A key counts them: its value is the greatest token that was granted or
-- reserved.

local tokens_end = 2 ^ 53 -- Lua numbers are exact only below this value

-- Returns the first of `count` tokens for a hold: those that were reserved for it already
--   (`has_tokens`), or new ones, which are not less than `least`. If the counter has lost the
--   tokens of an existing hold, the hold gets new tokens. Returns nil and an error if there are no
--   more tokens.
local function tokens_for(counter, count, least, has_tokens)
    local last = tonumber(redis.call('get', counter) or '0') or 0
    if has_tokens and last >= count then
        return last - count + 1
    end
    local first = math.max(last + 1, least)
    if first + count >= tokens_end then
        return nil, redis.error_reply('ERR the fencing tokens of this lock have come to their end')
    end
    redis.call('incrby', counter, string.format('%.0f', first + count - 1 - last))
    return first
end
