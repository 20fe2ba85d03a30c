-- Takes a free read-write lock, or upgrades a lock that only this owner's client reads. If the
-- owner already has the write hold, confirms it and never shortens it. A writer that waits for
-- readers writes a mark: until when it waits, the read field that it upgrades ('-': none), its head
-- start.
-- KEYS: name, marks of waiting writers.
-- ARGV: lease ms, owner, deadline in µs of this server's clock (0: none), read field that the hold
--   upgrades ('': none), prefix of timers, ms that the mark lasts (0: no mark), head start (ms for
--   which new readers wait after the last reader).
-- Returns {1 granted | 0 busy | 2 late | 3 another reader waits for its own upgrade | 4 the read
--   hold is gone, ms left if busy (-1: no end), µs now or 0}.
-- Redisson: RedissonWriteLock.
-- uses: deadline confirm elsewhere full instead together shared fields

local others_swept_max = 200

local now, late = clock_and_whether_late(ARGV[3])
if late then
    return {2, 0, now}
end

local name, marks, lease, owner, base = KEYS[1], KEYS[2], tonumber(ARGV[1]), ARGV[2], ARGV[4]
local field, now_ms = owner .. ':write', math.floor(now / 1000)
local mode, wrong = mode_of(name)
if wrong then
    return another_kind(name, 'a read-write lock', wrong)
end
local left = redis.call('pttl', name)
if mode and redis.call('hexists', name, field) == 1 then
    confirm_hold(name, left, lease)
    return {1, 0, now}
end
if base ~= '' and not (mode and redis.call('hexists', name, base) == 1) then
    return {4, 0, now}
end
if mode and has_foreign_field(name) then
    return another_kind(name, 'a read-write lock')
end
if mode == 'write' then
    return {0, left, now}
end

-- A holdfast reader (UUID version 8, mark d5: see engine.cpp) whose timer has expired is dead. A
-- Redisson reader may be alive without a timer, because some versions let timers expire.
local others, dead, dead_timers = 0, {}, {}
local count = mode and redis.call('hlen', name) or 0
if count > others_swept_max then
    others = count - 1
else
    for _, each in ipairs(mode and redis.call('hkeys', name) or {}) do
        if each ~= 'mode' and each ~= base then
            local timer = timer_of(ARGV[5], each, 1)
            local gone = string.sub(each, 15, 18) == '8fd5' and redis.pcall('exists', timer) ~= 1
            others = others + (gone and 0 or 1)
            if gone then
                table.insert(dead, each)
                table.insert(dead_timers, timer)
            end
        end
    end
end

local trouble = trouble_with_place(name, dead_timers)
if trouble then
    return trouble
end

if others == 0 then
    if base ~= '' then -- a full server refuses a new lock, but not an upgrade
        write_although_full('hdel', name)
    end
    redis.call('hset', name, 'mode', 'write', field, '1')
    -- After a write, readers and writers have equal chances. So no mark keeps readers away.
    local unmarked = redis.pcall('del', marks)
    for _, each in ipairs(dead) do
        redis.call('hdel', name, each)
    end
    if left == -1 and base ~= '' then
        return {1, 0, now} -- another program gave the read hold no end: keep it
    end
    local length = base ~= '' and math.max(1, left, lease) or ARGV[1]
    local is_denied = type(unmarked) == 'table'
    local expires = is_denied and unmarked or redis.pcall('pexpire', name, length)
    if expires ~= 1 then -- undo, because Redis does not roll back, and the lock would have no end
        redis.call('hset', name, 'mode', 'read')
        redis.call('hdel', name, field, base == '' and 'mode' or field)
        return expires
    end
    return {1, 0, now}
end

for _, each in ipairs(dead) do
    redis.call('hdel', name, each)
end
for _, mark in ipairs(base ~= '' and redis.call('hvals', marks) or {}) do
    local waits_until, stands_on = string.match(mark, '^(%d+) (%S+) ')
    if stands_on and stands_on ~= '-' and stands_on ~= base and
        tonumber(waits_until) > now_ms and redis.call('hexists', name, stands_on) == 1 then
        return {3, 0, now}
    end
end
if ARGV[6] ~= '0' then
    local waits_until = string.format('%.0f', now_ms + ARGV[6])
    local marked = redis.pcall('hset', marks, owner,
        waits_until .. ' ' .. (base ~= '' and base or '-') .. ' ' .. ARGV[7])
    if type(marked) ~= 'table' then
        -- Never shorten the TTL of the marks: another writer may wait, too, and may renew its mark
        -- later.
        redis.call('pexpire', marks, math.max(redis.call('pttl', marks), tonumber(ARGV[6])))
    elseif not string.find(marked.err, 'OOM', 1, true) then
        return marked
    end -- on a full server, the writer waits without a mark
end
return {0, left, now}
