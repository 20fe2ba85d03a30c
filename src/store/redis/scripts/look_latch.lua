-- Whether a latch is open: it has come down to zero, or there is none.
-- KEYS: name.
-- Returns {1 open | 0 shut, ms until it goes by itself (-1: never)}. getCount of
--   RedissonCountDownLatch
-- uses: instead count

local stored, trouble = count_of(KEYS[1], 'a latch')
if trouble then
    return trouble
end
if stored and stored > 0 then
    return {0, redis.call('pttl', KEYS[1])}
end
-- Nothing is there to delete; but a replica, which may not know of it yet, refuses to.
if not stored then
    redis.call('del', KEYS[1])
end
return {1, 0}
