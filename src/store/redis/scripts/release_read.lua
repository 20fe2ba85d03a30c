-- Ends its asker's read hold; the last one wakes who waits. Repeating it is harmless.
-- KEYS: name, its own timer, marks of waiting writers. ARGV: owner, what timers begin with,
--   channel, publish command, perhaps another.
-- Returns {1, receivers or listeners (-1: denied)} | {0, 0} nothing of this owner here.
--   RedissonReadLock
-- uses: listeners shared tell

local name, timer, marks, timers, channel = KEYS[1], KEYS[2], KEYS[3], ARGV[2], ARGV[3]
local is_marked = redis.call('exists', marks) == 1
redis.call('del', timer)
local mode = redis.pcall('hget', name, 'mode')
if type(mode) == 'table' then
    return string.find(mode.err, 'WRONGTYPE', 1, true) and {0, 0} or mode
end
if redis.call('hexists', name, ARGV[1]) == 0 then
    return {0, 0}
end
local function listeners()
    local counts = listeners_of({channel}, ARGV[4] == 'SPUBLISH' or ARGV[5])
    return counts and counts[1] or 0
end

if mode == 'write' then
    redis.call('hdel', name, ARGV[1]) -- the write hold on top of it has its own lease
    return {1, listeners()}
end

local longest = longest_timer(name, timers)
if longest > 0 then
    redis.call('hdel', name, ARGV[1])
    redis.call('pexpire', name, longest)
    if is_marked then -- somebody may wait to write on top of the only hold that is left
        return {1, tell(channel, '0', ARGV[4], ARGV[5])}
    end
    return {1, listeners()}
end
redis.call('del', name)
cut_to_head_start(marks)
return {1, tell(channel, '0', ARGV[4], ARGV[5])}
