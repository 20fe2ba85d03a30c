-- Ends its asker's write hold, and its mark that it waits; then who reads under it goes on reading,
-- and others may, too. Repeating it is harmless.
-- KEYS: name, marks of waiting writers. ARGV: owner, what timers begin with, channel, publish
--   command, perhaps another.
-- Returns {1, receivers (-1: message denied)} | {0, 0} nothing of this owner was held here.
--   RedissonWriteLock
-- uses: elsewhere full together shared tell

local name, marks, field, timers, channel = KEYS[1], KEYS[2], ARGV[1] .. ':write', ARGV[2], ARGV[3]
local held = redis.pcall('hexists', name, field)
if type(held) == 'table' and not string.find(held.err, 'WRONGTYPE', 1, true) then
    return held
end

-- All is read before anything is written, and what may empty a key is not asked about it again.
local longest, trouble = 0, nil
if held == 1 then
    longest, trouble = longest_timer(name, timers)
    if trouble then
        return trouble
    end
end
local is_marked = redis.call('hexists', marks, ARGV[1]) == 1
local withdrawn = is_marked and redis.call('hlen', marks) == 1
if is_marked then
    redis.call('hdel', marks, ARGV[1])
end
if held ~= 1 then
    if withdrawn then -- readers that it kept away
        tell(channel, '0', ARGV[4], ARGV[5])
    end
    return {0, 0}
end

if longest > 0 then
    write_although_full('hdel', name)
    redis.call('hset', name, 'mode', 'read')
    redis.call('hdel', name, field)
    redis.call('pexpire', name, longest)
else
    redis.call('del', name)
end
return {1, tell(channel, '1', ARGV[4], ARGV[5])}
