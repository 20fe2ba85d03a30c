-- Takes a free lock; confirms, and never shortens, a hold that its asker has already.
-- KEYS: name. ARGV: lease ms, owner, deadline in µs of this server's clock (0: none).
-- Returns {1 granted | 0 busy | 2 late, ms left if busy (-1: no end), µs now or 0}. RedissonLock
-- uses: deadline

local now, late = clock_and_whether_late(ARGV[3])
if late then
    return {2, 0, now}
end

local left = redis.call('pttl', KEYS[1])
if left == -2 then
    redis.call('hset', KEYS[1], ARGV[2], '1')
    local expires = redis.pcall('pexpire', KEYS[1], ARGV[1])
    if expires ~= 1 then -- nothing rolls a script back, and no lock may stay without an end
        redis.call('del', KEYS[1])
        return expires
    end
    return {1, 0, now}
end

-- Also says WRONGTYPE of a key that is no lock.
if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then
    return {0, left, now}
end
-- Written even if enough is left: what writes nothing a replica would grant from old data, and a
-- confirmation by replicas would be about an earlier write. Without an end it stays without one.
if left ~= -1 then
    redis.call('pexpire', KEYS[1], math.max(1, left, tonumber(ARGV[1])))
end
return {1, 0, now}
