-- Takes a free read-write lock, or one that only its asker reads: then it writes on top of that.
-- Confirms, and never shortens, a hold that it has already. Who waits while others read leaves a
-- mark: until when, whose read field it stands on ('-': none's), its head start.
-- KEYS: name, marks of waiting writers. ARGV: lease ms, owner, deadline in µs of this server's
--   clock (0: none), read field that it shall stand beside ('': beside none), what timers begin
--   with, how long the mark lasts (ms; 0: it leaves none), head start (ms).
-- Returns {1 granted | 0 busy | 2 late | 3 another reader waits to write on top of its hold | 4 its
--   own read hold is gone, ms left if busy (-1: no end), µs now or 0}. RedissonWriteLock
-- uses: deadline confirm elsewhere instead together shared fields

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

-- Of our readers (version 8, d5: see engine.cpp) those are dead whose timers are over; of a JVM's
-- one cannot tell, since some versions let them run out.
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
    redis.call('del', marks) -- so at each write's end readers and writers have the same chance
    redis.call('hset', name, 'mode', 'write', field, '1')
    for _, each in ipairs(dead) do
        redis.call('hdel', name, each)
    end
    if left == -1 and base ~= '' then
        return {1, 0, now} -- somebody made the read hold endless: it stays so
    end
    local length = base ~= '' and math.max(1, left, lease) or ARGV[1]
    local expires = redis.pcall('pexpire', name, length)
    if expires ~= 1 then -- nothing rolls a script back, and no lock may stay without an end
        redis.call('hset', name, 'mode', 'read')
        redis.call(unpack(base ~= '' and {'hdel', name, field} or {'del', name}))
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
        -- Never shorter than it was: others wait, too, and look again later.
        redis.call('pexpire', marks, math.max(redis.call('pttl', marks), tonumber(ARGV[6])))
    elseif not string.find(marked.err, 'OOM', 1, true) then
        return marked
    end -- on a full server it waits without a mark
end
return {0, left, now}
