-- Returns whether a latch is open. It is open if it has counted down to zero or does not exist.
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
-- The key does not exist, so DEL changes nothing. DEL is called because it is a write: a replica,
-- which may have old data, refuses every write.
if not stored then
    redis.call('del', KEYS[1])
end
return {1, 0}
