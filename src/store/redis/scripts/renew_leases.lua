-- Extends each hold that is still its owner's, shortens none, brings none back.
-- KEYS: names. ARGV: lease ms (0: extend none), what all owners begin with, then the rest of each.
-- Returns for each name 1 still its owner's | 0 not any more. Redisson's LockTask (the watchdog)
-- uses: elsewhere names

local lease = tonumber(ARGV[1])
return for_each_name(3, function(name, number)
    local mine = redis.pcall('hexists', name, ARGV[2] .. number)
    local left = mine == 1 and redis.call('pttl', name) or -1
    -- Written even if enough is left, and if it is only asked: a replica, whose data may be old,
    -- then answers READONLY. What has no end stays without one.
    return left == -1 and mine or redis.pcall('pexpire', name, math.max(1, left, lease))
end)
