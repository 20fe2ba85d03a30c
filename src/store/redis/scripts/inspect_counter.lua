-- What a semaphore or a latch has.
-- KEYS: name.
-- Returns {1 there is one | 0, the number}. availablePermits of RedissonSemaphore, getCount of
--   RedissonCountDownLatch
-- uses: count

local stored, trouble = count_of(KEYS[1])
return trouble or {stored and 1 or 0, stored or 0}
