-- Ends the owner's write hold and removes its mark as a waiting writer. A read hold of the same
-- client stays, and other readers can then share the lock. The script can be repeated.
-- KEYS: name, marks of waiting writers.
-- ARGV: owner, prefix of timers, channel, publish command, a second publish command (optional).
-- Returns {1, receivers (-1: message denied)} | {0, 0} if this owner had no write hold.
-- Redisson: RedissonWriteLock.
-- uses: elsewhere full together shared tell

local name, marks, field, timers, channel = KEYS[1], KEYS[2], ARGV[1] .. ':write', ARGV[2], ARGV[3]
local held = redis.pcall('hexists', name, field)
if type(held) == 'table' and not string.find(held.err, 'WRONGTYPE', 1, true) then
    return held
end

-- The script reads all data before it writes. It does not read a key again after its own writes may
-- have deleted the key.
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
    if withdrawn then -- notify the readers that the mark kept away
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
