-- Draws permits of a rate limiter, if there are enough; at most once, for its member is the memory.
-- KEYS: name, permits left, this client's permits left, draws, this client's draws. ARGV: permits,
--   member, deadline in µs of this server's clock (0: none).
-- Returns {1 drawn | 0 not enough | 2 late, if there are not: in how many ms there may be, µs now}.
--   tryAcquire of RedissonRateLimiter
-- uses: deadline instead rate

local clock, late = clock_and_whether_late(ARGV[3])
if clock == 0 then
    return redis.call('time') -- without it there is no rate: the refusal says what is missing
end
if late then
    return {2, 0, clock}
end

local limiter, trouble = limiter_of(KEYS[1])
if not limiter then
    return trouble or not_set()
end
local wanted = tonumber(ARGV[1])
if wanted > limiter.rate then
    return redis.error_reply(string.format('ERR %d permits are more than the rate of %.0f', wanted,
        limiter.rate))
end

local edge = edge_of(limiter, clock)
local drawn_at = redis.call('zscore', limiter.draws, ARGV[2])
-- One that counts no more is drawn anew: whoever asks so late begins now.
if drawn_at and tonumber(drawn_at) > tonumber(edge) then
    -- Written, so that no replica says so from old data, nor confirms what it has not.
    redis.call('hset', KEYS[1], 'rate', string.format('%.0f', limiter.rate))
    return {1, 0, clock}
end

trouble = trouble_with_draws(limiter, edge, ARGV[2])
if trouble then
    return trouble
end
local free, gone = free_in(limiter, edge, wanted)
if free >= wanted then
    -- Rounded down: a JVM of 3.13 fails on a draw that is later than its own clock says.
    local at = string.format('%.0f', math.floor(clock / 1000))
    -- A key that is emptied must not be touched again: it passes for one that is elsewhere while
    -- its slot moves. So where all others go, the new draw is there first.
    local is_first = gone > 0 and redis.call('zcard', limiter.draws) == gone
    if is_first then
        redis.call('zadd', limiter.draws, at, ARGV[2])
    end
    if gone > 0 then
        local cleared = redis.pcall('zremrangebyscore', limiter.draws, '-inf', edge)
        if type(cleared) == 'table' then
            redis.call('zrem', limiter.draws, ARGV[2])
            return cleared
        end
    end
    keep_left(limiter, free - wanted)
    if not is_first then
        redis.call('zadd', limiter.draws, at, ARGV[2])
    end
    local refusal = keep_state(limiter, clock)
    if refusal then
        redis.call('zrem', limiter.draws, ARGV[2])
        return refusal
    end
    return {1, 0, clock}
end

-- Each draw that goes frees one permit at least; one answer counts up to so many of them.
local read_max = 100
local next_ones = redis.call('zrangebyscore', limiter.draws, '(' .. edge, '+inf', 'withscores',
    'limit', 0, math.min(wanted - free, read_max))
local last = clock / 1000 - limiter.lasts
for i = 1, #next_ones, 2 do
    last = tonumber(next_ones[i + 1])
    free = free + count_in(next_ones[i])
    if free >= wanted then
        break
    end
end
local wait = math.max(1, math.ceil(last + limiter.lasts - clock / 1000))
if limiter.kept > 0 then
    local refusal = keep_state(limiter, clock, wait)
    if refusal then
        return refusal
    end
end
return {0, wait, clock}
