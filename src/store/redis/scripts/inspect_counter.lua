-- Returns the number of a semaphore or a latch.
-- KEYS: name. ARGV: the channel of its waiters, the name of its kind for errors.
-- Returns {1 it exists | 0, the number, listeners (-1: denied)}.
-- Redisson: availablePermits of RedissonSemaphore, getCount of RedissonCountDownLatch.
-- uses: instead number count listeners

local stored, trouble = count_of(KEYS[1], ARGV[2] or 'a semaphore')
if trouble then
    return trouble
end
local heard = listeners_of({ARGV[1]}, true)
return {stored and 1 or 0, stored or 0, heard and heard[1] or -1}
