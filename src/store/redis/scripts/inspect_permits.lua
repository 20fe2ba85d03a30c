-- Returns the number of free and held permits of a leased semaphore. Expired permits count as free.
-- KEYS: name, held permits. ARGV: the channel of its waiters.
-- Returns {1 it exists | 0, free permits, held permits, listeners (-1: denied)}.
-- Redisson: availablePermits and acquiredPermits of RedissonPermitExpirableSemaphore, which also
--   remove expired permits.
-- uses: deadline instead number count listeners permits

local stored, trouble = count_of(KEYS[1], 'a leased semaphore')
if trouble then
    return trouble
end
local now = math.floor(clock_and_whether_late('0') / 1000)
local over = redis.call('zcount', KEYS[2], 0, now)
local all = redis.call('zcard', KEYS[2])
local heard = listeners_of({ARGV[1]}, true)
return {
    (stored or all > 0) and 1 or 0, (stored or 0) + over, all - over, heard and heard[1] or -1
}
