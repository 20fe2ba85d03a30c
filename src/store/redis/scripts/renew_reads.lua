-- Extends each read hold that is still its owner's, shortens none, brings none back; and lifts a
-- lock's lease, which a JVM may have cut to its own, to what the hold has.
-- KEYS: pairs of a name and the owner's timer. ARGV: lease ms (0: extend none), what all owners
--   begin with, then the rest of each.
-- Returns for each pair 3 + the ms that the hold had left | 0 not its owner's any more. Redisson's
--   ReadLockTask
-- uses: elsewhere names

local lease = tonumber(ARGV[1])
return for_each_name(3, function(name, number, timer)
    local mine = redis.pcall('hexists', name, ARGV[2] .. number)
    if mine ~= 1 then
        return mine
    end
    local left, of_lock = redis.call('pttl', timer), redis.call('pttl', name)
    if left == -2 and lease == 0 then
        return 0 -- its time is over, and only others keep the lock; a writer sweeps it out
    end
    local timed = math.max(left, lease, 1)
    -- Written even if enough is left, see renew_leases.lua. PEXPIRE first: a full server refuses
    -- SET, unless the script has written before.
    local kept = redis.pcall('pexpire', timer, timed)
    if kept == 0 then
        kept = redis.pcall('set', timer, '1', 'px', timed)
    end
    if type(kept) == 'table' and kept.err then
        return kept
    end
    if of_lock ~= -1 then
        kept = redis.pcall('pexpire', name, math.max(of_lock, timed))
        if type(kept) == 'table' then
            return kept
        end
    end
    return 3 + math.max(0, of_lock == -1 and left or math.min(left, of_lock))
end, 2)
