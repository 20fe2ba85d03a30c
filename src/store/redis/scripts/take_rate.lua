-- Takes (draws) permits from a rate limiter, if there are enough. If the request is repeated, it
-- draws only once, because its member is already in the set of draws.
-- KEYS: name, permits left, this client's permits left, draws, this client's draws.
-- ARGV: permits, member, deadline in µs of this server's clock (0: none).
-- Returns {1 drawn | 0 not enough | 2 late, if not enough ms until there may be enough, µs now}.
-- Redisson: tryAcquire of RedissonRateLimiter.
-- uses: deadline full instead rate

local clock, late = clock_and_whether_late(ARGV[3])
if clock == 0 then
    return redis.call('time') -- no rate without TIME; the error names the missing permission
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
-- If the draw of this request has expired, a repetition draws again, like a new request.
if drawn_at and tonumber(drawn_at) > tonumber(edge) then
    -- Write something. So a replica with old data cannot give this reply, and WAIT confirms this
    -- draw. A full server must accept the write, because the draw was granted before.
    write_although_full('hdel', KEYS[1])
    redis.call('hset', KEYS[1], 'rate', string.format('%.0f', limiter.rate))
    return {1, 0, clock}
end

trouble = trouble_with_draws(limiter, edge, ARGV[2])
if trouble then
    return trouble
end
local free, gone = free_in(limiter, edge, wanted)
if free >= wanted then
    -- Round the time down, because Redisson 3.13 fails if a draw is later than its own clock.
    local at = string.format('%.0f', math.floor(clock / 1000))
    -- A script must not empty a key and then use it again: while the slot is being migrated, the
    -- server would report that the key is on the other server. So if all other draws expire, the
    -- new draw is added first.
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

-- Each draw that expires frees at least one permit. One request reads at most `read_max` draws.
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
-- When Redisson makes the interval longer, it does not change the keys of single clients. So these
-- keys may expire before their draws.
local is_short = limiter.per_client and redis.call('pttl', limiter.draws) < limiter.lasts
if limiter.kept > 0 or is_short then
    local refusal = keep_state(limiter, clock, wait)
    if refusal then
        return refusal
    end
end
return {0, wait, clock}
