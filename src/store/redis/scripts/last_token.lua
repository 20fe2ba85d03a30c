-- Tells the greatest fencing token of a lock, given away or reserved.
-- KEYS: token counter. ARGV: none.
-- Returns it | 0 there was none. RedissonFencedLock: GET

return tonumber(redis.call('get', KEYS[1]) or '0')
