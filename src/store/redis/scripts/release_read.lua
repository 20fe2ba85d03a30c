-- Ends the owner's read hold, and notifies the waiters if no other reader is left. The script can
-- be repeated.
-- KEYS: name, the owner's timer, marks of waiting writers.
-- ARGV: owner, prefix of timers, channel, publish command, a second publish command (optional).
-- Returns {1, receivers or listeners (-1: denied)} | {0, 0} if this owner holds nothing here.
-- Redisson: RedissonReadLock.
-- uses: elsewhere listeners together shared tell

local name, timer, marks, timers, channel = KEYS[1], KEYS[2], KEYS[3], ARGV[2], ARGV[3]
local is_marked = redis.call('exists', marks) == 1
local mode = redis.pcall('hget', name, 'mode')
if type(mode) == 'table' and not string.find(mode.err, 'WRONGTYPE', 1, true) then
    return mode
end
local is_lock = mode == 'read' or mode == 'write' -- otherwise the key has another kind now

-- The script reads all data before it writes. So an error does not leave a half-done change.
local is_held = is_lock and redis.call('hexists', name, ARGV[1]) == 1
local longest, trouble = 0, nil
if is_held and mode ~= 'write' then
    longest, trouble = longest_timer(name, timers, ARGV[1])
    if trouble then
        return trouble
    end
end
redis.call('del', timer)
if not is_held then
    return {0, 0}
end
local function listeners()
    local counts = listeners_of({channel}, ARGV[4] == 'SPUBLISH' or ARGV[5])
    return counts and counts[1] or 0
end

if mode == 'write' then
    redis.call('hdel', name, ARGV[1]) -- a write hold of the same client has its own lease
    return {1, listeners()}
end

if longest > 0 then
    redis.call('hdel', name, ARGV[1])
    redis.call('pexpire', name, longest)
    if is_marked then -- the last reader may be a writer that waits to upgrade its read hold
        return {1, tell(channel, '0', ARGV[4], ARGV[5])}
    end
    return {1, listeners()}
end
redis.call('del', name)
cut_to_head_start(marks)
return {1, tell(channel, '0', ARGV[4], ARGV[5])}
