-- Changes the number of permits of a semaphore. If a request is repeated, the script makes the
-- change only once.
-- KEYS: name, requests of this client.
-- ARGV: verb, permits, largest number of permits after it (0: no limit), ms for which a new
--   semaphore is kept (0: for ever), slot, number, deadline in µs of this server's clock (0: none),
--   ms for which the request is remembered, channel, publish command, a second publish command
--   (optional).
-- Returns {1 done | 0 not done | 2 late | 3 too many permits, µs now or 0, permits (drain: permits
--   before it), receivers (-1: message denied)}.
-- Redisson: release, releaseIfExists, addPermits, trySetPermits, drainPermits and delete of
--   RedissonSemaphore.
-- uses: deadline request instead number count tell

local now, late = clock_and_whether_late(ARGV[7])
if late then
    return {2, now, 0, 0}
end

local before, overtaken = answer_before(KEYS[2], ARGV[5], ARGV[6], ARGV[8])
if before or overtaken then
    return {overtaken and 2 or before[1], now, overtaken and 0 or before[2], 0}
end

local stored, trouble = count_of(KEYS[1], 'a semaphore')
if trouble then
    return trouble
end
local verb, amount, there = ARGV[1], tonumber(ARGV[2]), stored or 0
local most = ARGV[3] ~= '0' and math.min(tonumber(ARGV[3]), count_max) or count_max

if verb ~= 'set_new' then
    write_request_although_full(KEYS[2], ARGV[8])
end

local function answer(done, value)
    remember_answer(KEYS[2], ARGV[5], ARGV[6], done, value, ARGV[8])
    return {done, now, value, 0}
end

local function change(...)
    carry_out(KEYS[2], ARGV[5], nil, ...)
end

-- The message to the waiters is the new number of permits. A negative number is not sent, because
-- Redisson cannot read it.
local function tell_of(said)
    said[4] = said[3] > 0 and tell(ARGV[9], string.format('%.0f', said[3]), ARGV[10], ARGV[11]) or 0
    return said
end

if verb == 'add' or verb == 'add_if_there' and stored then
    if there + amount > most then
        return answer(3, there)
    end
    local said = answer(1, there + amount)
    change('incrby', KEYS[1], ARGV[2])
    return tell_of(said)
elseif verb == 'take_back' then
    if there - amount < -count_max then
        return answer(3, there)
    end
    local said = answer(1, there - amount)
    change('decrby', KEYS[1], ARGV[2])
    return tell_of(said)
elseif verb == 'set_new' and not stored then
    local said = answer(1, amount)
    if ARGV[4] == '0' then
        change('set', KEYS[1], ARGV[2])
    else
        change('set', KEYS[1], ARGV[2], 'px', ARGV[4])
    end
    return tell_of(said)
elseif verb == 'drain' then
    local said = answer(1, there)
    if stored then -- DECRBY keeps the TTL of the key
        change('decrby', KEYS[1], string.format('%.0f', there))
    end
    return said
elseif verb == 'erase' and stored then
    local said = answer(1, 0)
    change('del', KEYS[1])
    return said
end
return answer(0, there)
