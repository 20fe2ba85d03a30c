-- Sets or deletes a rate limiter, or gives permits of any client back. Permits that were drawn last
-- are given back first. If a request is repeated, the script makes the change only once.
-- KEYS: name, permits left, this client's permits left, draws, this client's draws, requests of
--   this client.
-- ARGV: verb, permits, interval in ms, 1 for each client | 0 overall, ms for which an unused
--   limiter is kept (0: for ever), slot, number, deadline in µs of this server's clock (0: none),
--   ms for which the request is remembered.
-- Returns {1 done | 0 not done | 2 late, µs now, permits (add: permits that can be drawn now), 0}.
-- Redisson: trySetRate, setRate, release and delete of RedissonRateLimiter.
-- uses: deadline elsewhere request instead rate together

local clock, late = clock_and_whether_late(ARGV[8])
if clock == 0 then
    return redis.call('time')
end
if late then
    return {2, clock, 0, 0}
end

local before, overtaken = answer_before(KEYS[6], ARGV[6], ARGV[7], ARGV[9])
if before or overtaken then
    return {overtaken and 2 or before[1], clock, overtaken and 0 or before[2], 0}
end

local limiter, trouble = limiter_of(KEYS[1])
if trouble then
    return trouble
end
local verb = ARGV[1]

if verb == 'add' or verb == 'erase' then
    write_request_although_full(KEYS[6], ARGV[9])
end

local function answer(done, value)
    remember_answer(KEYS[6], ARGV[6], ARGV[7], done, value, ARGV[9])
    return {done, clock, value, 0}
end

local function change(undo, ...)
    carry_out(KEYS[6], ARGV[6], undo, ...)
end

-- Gives `count` permits back by removing the latest draws, so that the other draws expire as
-- before. If only a part of a draw is given back, writes the draw again with the smaller number.
-- Also removes expired draws.
local function take_from_draws(latest, edge, count, gone, undo)
    local given, old = 0, {}
    for i = 1, #latest, 2 do
        if given < count then
            table.insert(old, latest[i])
            given = given + count_in(latest[i])
            if given > count then
                change(undo, 'zadd', limiter.draws, latest[i + 1],
                    member_with(latest[i], given - count))
            end
        end
    end
    if gone > 0 then
        change(undo, 'zremrangebyscore', limiter.draws, '-inf', edge)
    end
    for _, member in ipairs(old) do
        change(undo, 'zrem', limiter.draws, member)
    end
end

local function add(count)
    local edge = edge_of(limiter, clock)
    local _, gone, free = free_in(limiter, edge, limiter.rate)
    local latest = redis.call('zrevrangebyscore', limiter.draws, '+inf', '(' .. edge, 'withscores',
        'limit', 0, count)
    local said = answer(1, math.max(0, math.min(limiter.rate, free + count)))
    local function undo()
        redis.call('del', limiter.left)
        if limiter.stored then
            redis.call('incrby', limiter.left, string.format('%.0f', limiter.stored))
        end
    end
    if not limiter.stored then -- missing, or not a number
        change(nil, 'del', limiter.left)
    end
    change(nil, 'incrby', limiter.left, string.format('%.0f', said[3] - (limiter.stored or 0)))
    local refusal = keep_state(limiter, clock)
    if refusal then
        undo()
        forget(KEYS[6], ARGV[6])
        return refusal
    end
    take_from_draws(latest, edge, count, gone, undo)
    return said
end

-- Returns the keys of the other clients that draw from a rate of their own, but of at most
-- `others_max` clients.
local others_max = 10000
local function others_that_draw()
    local now = string.format('%.0f', math.floor(clock / 1000))
    local ids = redis.pcall('zrangebyscore', clients, '(' .. now, '+inf', 'limit', 0, others_max)
    local keys = {}
    for _, id in ipairs(ids.err and {} or ids) do
        if KEYS[3] ~= KEYS[2] .. ':' .. id then
            table.insert(keys, KEYS[2] .. ':' .. id)
            table.insert(keys, KEYS[4] .. ':' .. id)
        end
    end
    return keys, trouble_with_place(KEYS[1], keys)
end

-- Keeps the draws of other clients until they expire under the new rate. Removes the draws that
-- have already expired under the old rate, because they must not count again if the new interval is
-- longer. Deletes the stored numbers of permits that these clients have left, so that their next
-- requests count the permits again.
local function carry_over(keys, made)
    local lasts = client_keys_last(made, made.kept)
    local length = string.format('%.0f', lasts)
    local ends = string.format('%.0f', math.floor(clock / 1000) + lasts)
    for i = 1, #keys, 2 do
        redis.pcall('del', keys[i])
        redis.pcall('zremrangebyscore', keys[i + 1], '-inf', edge_of(limiter, clock))
        local left = redis.pcall('pttl', keys[i + 1])
        if type(left) == 'number' and left < lasts then
            if redis.pcall('pexpire', keys[i + 1], length) == 1 then
                redis.pcall('zadd', clients, ends, string.sub(keys[i], #KEYS[2] + 2))
                redis.pcall('pexpire', clients, length)
            end
        end
    end
end

local function forget_draws_of_others(keys)
    redis.pcall('del', clients)
    for _, key in ipairs(keys) do
        redis.pcall('del', key)
    end
end

-- Returns the TTL (ms) of a limiter after a change of its rate. `kept` is the time (ms) for which
-- an unused limiter is kept. A client that waits under the old rate still sleeps for the time in
-- the reply that it got. So the TTL must cover this time, which the old TTL shows. Without an old
-- TTL, such a client sleeps for at most one interval.
local function ttl_under_new_rate(kept)
    if not limiter then
        return kept
    end
    local wait = limiter.interval
    local old = redis.pcall('pttl', KEYS[1])
    if limiter.kept > 0 and type(old) == 'number' then
        wait = old - math.max(limiter.kept, waiter_needs)
    end
    return wait > 0 and math.max(kept, needed_by_waiter(wait, kept)) or kept
end

local function set()
    local others, elsewhere = others_that_draw()
    if elsewhere then
        return elsewhere
    end
    local said = answer(1, tonumber(ARGV[2]))
    local function undo()
        if limiter then
            redis.call('hset', KEYS[1], 'rate', limiter.rate, 'interval', limiter.interval, 'type',
                limiter.per_client and 1 or 0, 'keepAliveTime', limiter.kept)
        else
            redis.call('del', KEYS[1])
        end
    end
    if not limiter then -- lets undo() delete the key
        change(nil, 'del', KEYS[1])
    end
    change(nil, 'hset', KEYS[1], 'rate', ARGV[2], 'interval', ARGV[3], 'type', ARGV[4],
        'keepAliveTime', ARGV[5])
    if ARGV[5] == '0' then
        change(undo, 'persist', KEYS[1])
    else
        local ttl = ttl_under_new_rate(tonumber(ARGV[5]))
        change(undo, 'pexpire', KEYS[1], string.format('%.0f', ttl))
    end
    change(undo, 'del', KEYS[2], KEYS[3], KEYS[4], KEYS[5])
    local interval = tonumber(ARGV[3])
    if limiter then
        carry_over(others, {interval = interval, lasts = interval + 1, kept = tonumber(ARGV[5])})
    else
        forget_draws_of_others(others)
    end
    return said
end

local function erase()
    local others, elsewhere = others_that_draw()
    if elsewhere then
        return elsewhere
    end
    local said = answer(1, 0)
    change(nil, 'del', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
    forget_draws_of_others(others)
    return said
end

if verb == 'add' then
    return limiter and add(tonumber(ARGV[2])) or not_set()
elseif verb == 'set' or verb == 'set_new' and not limiter then
    return set()
elseif verb == 'erase' and limiter then
    return erase()
end
return answer(0, 0)
