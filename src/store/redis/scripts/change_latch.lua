-- Sets, counts down or deletes a latch. If a request is repeated, the script changes the latch only
-- once.
-- KEYS: name, requests of this client.
-- ARGV: verb, amount, slot, number, deadline in µs of this server's clock (0: none), ms for which
--   the request is remembered, channel, publish command, a second publish command (optional).
-- Returns {1 done | 0 not done | 2 late, µs now or 0, count, receivers (-1: message denied)}.
-- Redisson: trySetCount, countDown and delete of RedissonCountDownLatch.
-- uses: deadline request instead number count tell

local now, late = clock_and_whether_late(ARGV[5])
if late then
    return {2, now, 0, 0}
end

local before, overtaken = answer_before(KEYS[2], ARGV[3], ARGV[4], ARGV[6])
if before or overtaken then
    return {overtaken and 2 or before[1], now, overtaken and 0 or before[2], 0}
end

local stored, trouble = count_of(KEYS[1], 'a latch')
if trouble then
    return trouble
end
local verb, amount = ARGV[1], tonumber(ARGV[2])

if verb ~= 'set_new' then
    write_request_although_full(KEYS[2], ARGV[6])
end

local function answer(done, value)
    remember_answer(KEYS[2], ARGV[3], ARGV[4], done, value, ARGV[6])
    return {done, now, value, 0}
end

local function change(...)
    carry_out(KEYS[2], ARGV[3], nil, ...)
end

-- Redisson's waiters go on when they get the message '0'. The message '1' makes them wait.
local function tell_of(said, message)
    said[4] = tell(ARGV[7], message, ARGV[8], ARGV[9])
    return said
end

if verb == 'set_new' and not stored then
    local said = answer(1, amount)
    change('set', KEYS[1], ARGV[2])
    return tell_of(said, '1')
elseif verb == 'count_down' and stored and stored > amount then
    local said = answer(0, stored - amount)
    change('decrby', KEYS[1], ARGV[2])
    return said
elseif stored and (verb == 'count_down' or verb == 'erase') then
    -- Delete the key before the message is sent. So the latch opens even if the user may not
    -- publish.
    local was_shut = stored > 0
    local said = answer((verb == 'erase' or was_shut) and 1 or 0, 0)
    change('del', KEYS[1])
    return was_shut and tell_of(said, '0') or said
end
return answer(0, math.max(stored or 0, 0))
