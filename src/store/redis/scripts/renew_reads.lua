-- Extends each read hold that is still its owner's, shortens none, brings none back; and lifts a
-- lock's lease, which a JVM may have cut to its own, to what the hold has.
-- KEYS: pairs of a name and the owner's timer. ARGV: lease ms (0: extend none), what all owners
--   begin with, then the rest of each.
-- Returns for each pair 1 still its owner's | 0 not any more. Redisson's ReadLockTask
-- uses: elsewhere names

local lease = tonumber(ARGV[1])
return for_each_name(3, function(name, number, timer)
    local mine = redis.pcall('hexists', name, ARGV[2] .. number)
    if mine ~= 1 then
        return mine
    end
    local left = redis.call('pttl', timer)
    if left == -2 and lease == 0 then
        return 0 -- its time is over, and only others keep the lock; a writer sweeps it out
    end
    local timed = math.max(left, lease, 1)
    -- Written even if enough is left, see renew_leases.lua.
    local set = redis.pcall('set', timer, '1', 'px', timed)
    if set.err then
        return set
    end
    left = redis.call('pttl', name)
    return left == -1 and 1 or redis.pcall('pexpire', name, math.max(left, timed))
end, 2)
