-- Returns the greatest fencing token of a lock that was granted or reserved for a grant.
-- KEYS: token counter. ARGV: none.
-- Returns the token | 0 if there was none | an error if the counter is not a whole number.
-- RedissonFencedLock: GET.

local last = redis.call('get', KEYS[1]) or '0'
if not string.find(last, '^%d+$') then
    return redis.error_reply('ERR the counter of fencing tokens is not an integer')
end
return tonumber(last)
