-- Extends each read hold that is still its owner's, shortens none, brings none back; and lifts a
-- lock's lease, which a JVM may have cut to its own, to what the hold has.
-- KEYS: pairs of a name and the owner's timer. ARGV: lease ms (0: extend none), what all owners
--   begin with, then the rest of each.
-- Returns for each pair 1 still its owner's | 0 not any more. Redisson's ReadLockTask

local lease, held = tonumber(ARGV[1]), {}
for i = 1, #KEYS, 2 do
    local name, timer = KEYS[i], KEYS[i + 1]
    local mine = redis.pcall('hexists', name, ARGV[2] .. ARGV[2 + (i + 1) / 2])
    local left = mine == 1 and redis.call('pttl', timer)
    if left == -2 and lease == 0 then
        mine = 0 -- its time is over, and only others keep the lock; a writer sweeps it out
    end
    if mine == 1 then
        local timed = math.max(left, lease, 1)
        -- Written even if enough is left, see renew_leases.lua.
        local set = redis.pcall('set', timer, '1', 'px', timed)
        left = redis.call('pttl', name)
        mine = set.err and set or left == -1 and 1 or
            redis.pcall('pexpire', name, math.max(left, timed))
    end
    if type(mine) == 'table' then
        -- A name that has become something else must not spoil the others' answers.
        if not string.find(mine.err, 'WRONGTYPE', 1, true) then
            return mine
        end
        mine = 0
    end
    held[(i + 1) / 2] = mine
end
return held
