-- Fencing tokens of a mutex. A key stores the greatest token that was granted to a hold, or that
-- was reserved for one.

local tokens_end = 2 ^ 53 -- Lua numbers are exact only below this value

-- Returns the first of `count` tokens for a hold. If `has_tokens`, these are the tokens that the
-- hold has already; otherwise new tokens, which are at least `least`. If the counter has lost the
-- tokens of the hold, returns new tokens, too. Returns nil and an error if no tokens are left.
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
