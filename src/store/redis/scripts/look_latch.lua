-- Returns whether a latch is open: it has counted down to zero, or it does not exist.
-- KEYS: name.
-- Returns {1 open | 0 shut, ms until the key expires (-1: never)}.
-- Redisson: getCount of RedissonCountDownLatch.
-- uses: instead number count

local stored, trouble = count_of(KEYS[1], 'a latch')
if trouble then
    return trouble
end
if stored and stored > 0 then
    return {0, redis.call('pttl', KEYS[1])}
end
-- The key does not exist, so DEL changes nothing. But a replica refuses DEL, because DEL is a
-- write. So a replica with old data cannot report an open latch.
if not stored then
    redis.call('del', KEYS[1])
end
return {1, 0}
