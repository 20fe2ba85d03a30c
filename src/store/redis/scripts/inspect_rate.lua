-- Returns the settings of a rate limiter, and how many permits can be drawn now.
-- KEYS: name, permits left, this client's permits left, draws, this client's draws.
-- Returns {1 it exists | 0, permits, rate, interval in ms, 1 for each client | 0 overall, ms for
--   which an unused limiter is kept (0: for ever)}.
-- Redisson: getConfig and availablePermits of RedissonRateLimiter.
-- uses: deadline instead rate

local clock = clock_and_whether_late('0')
if clock == 0 then
    return redis.call('time')
end
local limiter, trouble = limiter_of(KEYS[1])
if not limiter then
    return trouble or {0, 0, 0, 0, 0, 0}
end
local free = free_in(limiter, edge_of(limiter, clock), limiter.rate)
return {
    1, free, limiter.rate, limiter.interval, limiter.per_client and 1 or 0, limiter.kept
}
