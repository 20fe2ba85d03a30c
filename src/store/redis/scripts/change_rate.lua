-- Sets a rate limiter, deletes it, or gives back permits that anybody drew, the latest first; at
-- most once, however often the request comes.
-- KEYS: name, permits left, this client's permits left, draws, this client's draws, requests of
--   this client. ARGV: what to do, permits, the interval in ms, 1 for each client | 0 overall, for
--   how many ms it is kept unused (0: for ever), slot, number, deadline in µs of this server's
--   clock (0: none), for how many ms the request is remembered.
-- Returns {1 done | 0 not | 2 late, µs now, permits (of add: that can be drawn now), 0}.
--   trySetRate, setRate, release and delete of RedissonRateLimiter
-- uses: deadline request rate

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

local function answer(done, value)
    remember_answer(KEYS[6], ARGV[6], ARGV[7], done, value, ARGV[9])
    return {done, clock, value, 0}
end

local function change(undo, ...)
    carry_out(KEYS[6], ARGV[6], undo, ...)
end

-- The latest draws go, so that the others count for as long as they would have. One of which a part
-- stays is written anew. What goes anyway goes with them.
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
    local free, gone = free_in(limiter, edge, limiter.rate)
    local latest = redis.call('zrevrangebyscore', limiter.draws, '+inf', '(' .. edge, 'withscores',
        'limit', 0, count)
    local said = answer(1, math.min(limiter.rate, free + count))
    local function undo()
        redis.call('del', limiter.left)
        if limiter.stored then
            redis.call('incrby', limiter.left, string.format('%.0f', limiter.stored))
        end
    end
    if not limiter.stored then -- or it is no number
        change(nil, 'del', limiter.left)
    end
    change(nil, 'incrby', limiter.left, string.format('%.0f', said[3] - (limiter.stored or 0)))
    local refusal = keep_state(limiter)
    if refusal then
        undo()
        forget(KEYS[6], ARGV[6])
        return refusal
    end
    take_from_draws(latest, edge, count, gone, undo)
    return said
end

local function set()
    local said = answer(1, tonumber(ARGV[2]))
    local function undo()
        if limiter then
            redis.call('hset', KEYS[1], 'rate', limiter.rate, 'interval', limiter.interval, 'type',
                limiter.per_client and 1 or 0, 'keepAliveTime', limiter.kept)
        else
            redis.call('del', KEYS[1])
        end
    end
    if not limiter then -- so that what was done can be undone
        change(nil, 'del', KEYS[1])
    end
    change(nil, 'hset', KEYS[1], 'rate', ARGV[2], 'interval', ARGV[3], 'type', ARGV[4],
        'keepAliveTime', ARGV[5])
    if ARGV[5] == '0' then
        change(undo, 'persist', KEYS[1])
    else
        change(undo, 'pexpire', KEYS[1], ARGV[5])
    end
    change(undo, 'del', KEYS[2], KEYS[3], KEYS[4], KEYS[5])
    return said
end

if verb == 'add' then
    return limiter and add(tonumber(ARGV[2])) or not_set()
elseif verb == 'set' or verb == 'set_new' and not limiter then
    return set()
elseif verb == 'erase' and limiter then
    local said = answer(1, 0)
    change(nil, 'del', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
    return said
end
return answer(0, 0)
