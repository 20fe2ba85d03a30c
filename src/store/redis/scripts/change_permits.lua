-- Changes the number of permits of a leased semaphore, or changes a held permit. A change of the
-- number frees expired permits first. If a request is repeated, the script makes the change only
-- once.
-- KEYS: name, held permits, requests of this client.
-- ARGV: verb, number of permits (set_lease: ms), id of a held permit, slot, number, deadline in µs
--   of this server's clock (0: none), ms for which the request is remembered, channel, publish
--   command, a second publish command (optional).
-- Returns {1 done | 0 not done | 2 late | 3 too many permits, µs now, free permits, receivers (-1:
--   message denied)}.
-- Redisson: trySetPermits, setPermits, addPermits, release, updateLeaseTime and delete of
--   RedissonPermitExpirableSemaphore.
-- uses: deadline request instead number count permits tell

local clock, late = clock_and_whether_late(ARGV[6])
if clock == 0 then
    -- without TIME, no lease can expire; this error names the missing permission
    return redis.call('time')
end
if late then
    return {2, clock, 0, 0}
end

local before, overtaken = answer_before(KEYS[3], ARGV[4], ARGV[5], ARGV[7])
if before or overtaken then
    return {overtaken and 2 or before[1], clock, overtaken and 0 or before[2], 0}
end

local stored, trouble = count_of(KEYS[1], 'a leased semaphore')
trouble = trouble or ARGV[3] ~= '' and trouble_with_form(KEYS[2], #ARGV[3])
if trouble then
    return trouble
end
local verb, amount, permit, now = ARGV[1], tonumber(ARGV[2]), ARGV[3], math.floor(clock / 1000)
-- Expired permits are free, although they stay in the set until a script removes them.
local there = (stored or 0) + redis.call('zcount', KEYS[2], 0, now)

if verb ~= 'set_new' and verb ~= 'set' then
    write_request_although_full(KEYS[3], ARGV[7])
end

local function answer(done, value)
    remember_answer(KEYS[3], ARGV[4], ARGV[5], done, value, ARGV[7])
    return {done, clock, value, 0}
end

local function change(...)
    carry_out(KEYS[3], ARGV[4], nil, ...)
end

-- Adds `more` permits (a negative number takes permits away), and removes expired permits from the
-- set. If `given_back` is set, removes this held permit, too. The message to the waiters is the new
-- number of free permits. A negative number is not sent, because Redisson cannot read it.
local function change_by(more, done, given_back)
    local value, at_once = there + more, 1000
    if done ~= 0 and (value > count_max or value < -count_max) then
        return answer(3, there)
    end
    local removed = redis.call('zrangebyscore', KEYS[2], 0, now)
    local added = more + #removed
    if given_back then
        table.insert(removed, given_back)
    end
    local said = answer(done or 1, value)
    change('incrby', KEYS[1], string.format('%.0f', added))
    local function undo()
        redis.call('incrby', KEYS[1], string.format('%.0f', 0 - added))
    end
    for i = 1, #removed, at_once do -- if ZREM is denied, the first call fails
        carry_out(KEYS[3], ARGV[4], undo, 'zrem', KEYS[2],
            unpack(removed, i, math.min(#removed, i + at_once - 1)))
    end
    if added > 0 and value > 0 then
        said[4] = tell(ARGV[8], string.format('%.0f', value), ARGV[9], ARGV[10])
    end
    return said
end

if verb == 'add' then
    return change_by(amount)
elseif verb == 'take_back' then
    return change_by(-amount)
elseif verb == 'set' or verb == 'set_new' and not stored then
    -- Subtract the held permits also for set_new, because another program may have deleted only the
    -- number.
    return change_by(amount - there - redis.call('zcount', KEYS[2], '(' .. now, '+inf'))
elseif verb == 'erase' and (stored or redis.call('exists', KEYS[2]) == 1) then
    local said = answer(1, 0)
    change('del', KEYS[1], KEYS[2])
    return said
elseif verb == 'give_back' or verb == 'set_lease' then
    local ends = tonumber(redis.call('zscore', KEYS[2], permit) or nil)
    local is_held = ends and ends > now
    if verb == 'set_lease' and is_held then
        local said = answer(1, there)
        change('zadd', KEYS[2], string.format('%.0f', now + amount), permit)
        return said
    elseif verb == 'give_back' and is_held then
        return change_by(1, 1, permit)
    elseif verb == 'give_back' and ends then
        return change_by(0, 0)
    end
end
return answer(0, there)
