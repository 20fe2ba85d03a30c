-- Extends each read hold that its owner still has. The script never shortens or creates a hold. It
-- also extends the key of the lock up to the end of the hold, because Redisson may have shortened
-- the TTL of the key to the lease of its own hold.
-- KEYS: pairs of a name and the owner's timer.
-- ARGV: lease ms (0: extend none), common prefix of the owners, then the remaining text of each
--   owner.
-- Returns for each pair 3 + the ms that the hold had left | 0 lost.
-- Redisson: ReadLockTask.
-- uses: elsewhere names

local lease = tonumber(ARGV[1])
return for_each_name(3, function(name, number, timer)
    local mine = redis.pcall('hexists', name, ARGV[2] .. number)
    if mine ~= 1 then
        return mine
    end
    local left, of_lock = redis.call('pttl', timer), redis.call('pttl', name)
    if left == -2 and lease == 0 then
        return 0 -- the hold has expired, but other readers keep the lock; a writer removes it
    end
    local timed = math.max(left, lease, 1)
    -- Write even if the present lease is long enough; see renew_leases.lua. PEXPIRE comes first,
    -- because a full server refuses SET until the script has written something.
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
