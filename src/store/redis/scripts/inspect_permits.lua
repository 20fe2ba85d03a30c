-- What a semaphore with leased permits has.
-- KEYS: name, held permits. ARGV: the channel of its waiters.
-- Returns {1 there is one | 0, permits that can be had, permits that are held, listeners (-1:
--   denied)}. availablePermits and acquiredPermits of RedissonPermitExpirableSemaphore, which take
--   out what is over
-- uses: deadline instead count listeners permits

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
