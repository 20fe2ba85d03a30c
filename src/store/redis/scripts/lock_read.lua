-- Grants a read hold, next to holds of other readers or a write hold of the owner's client. If the
-- owner already has the read hold, confirms it and never shortens it. Grants no new read hold while
-- a writer waits.
-- KEYS: name, the owner's timer, marks of waiting writers.
-- ARGV: lease ms, owner, deadline in µs of this server's clock (0: none), write field of the hold
--   that this read hold is added to ('': none).
-- Returns {1 granted | 0 busy | 2 late | 4 that write hold is gone, ms left, µs now or 0}. If
--   granted, ms left is the rest of the lock's lease before this request (-1: no end, -2: it was
--   free). If busy, the lock may be free after that time (-1: no end).
-- Redisson: RedissonReadLock.
-- uses: deadline confirm elsewhere full instead together shared fields

local now, late = clock_and_whether_late(ARGV[3])
if late then
    return {2, 0, now}
end

local name, timer, marks, lease, owner = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local mode, wrong = mode_of(name)
if wrong then
    return another_kind(name, 'a read-write lock', wrong)
end
local left = redis.call('pttl', name)
local mine = mode and redis.call('hexists', name, owner) == 1
if not mine and ARGV[4] ~= '' then
    if not mode or redis.call('hexists', name, ARGV[4]) == 0 then
        return {4, 0, now}
    end
elseif not mine then
    if mode and has_foreign_field(name) then
        return another_kind(name, 'a read-write lock')
    end
    if mode == 'write' then
        return {0, left, now}
    end
    if redis.call('exists', marks) == 1 then
        if not mode then
            cut_to_head_start(marks)
        end
        -- The lock is busy until the marks of the waiting writers expire or the leases of the
        -- present readers expire, whichever is sooner.
        local kept_back = math.max(1, redis.call('pttl', marks))
        return {0, left >= 0 and math.min(left, kept_back) or kept_back, now}
    end
end

if mine or ARGV[4] ~= '' then
    write_although_full('hdel', name)
end
-- Set the timer first. If the server refuses it, the lock is not taken.
local timed = redis.call('pttl', timer)
if timed < tonumber(lease) then
    local set = redis.pcall('set', timer, '1', 'px', lease)
    if set.err then
        return set
    end
end
if not mine then
    redis.call('hset', name, 'mode', mode or 'read', owner, '1')
end
confirm_hold(name, left, lease)
return {1, left, now}
