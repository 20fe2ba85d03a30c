-- Extends each hold that is still its owner's, shortens none, brings none back.
-- KEYS: names. ARGV: lease ms (0: extend none), what all owners begin with, then the rest of each.
-- Returns for each name 1 still its owner's | 0 not any more. Redisson's LockTask (the watchdog)

local lease = tonumber(ARGV[1])
local held = {}
for i, name in ipairs(KEYS) do
    -- In pcalls, so that a name that has become something else does not spoil the others' answers.
    -- Any other trouble (rights, a replica) is everybody's, and must not pass for a lost lease.
    local mine = redis.pcall('hexists', name, ARGV[2] .. ARGV[i + 2])
    local left = mine == 1 and redis.call('pttl', name) or -1
    -- Written even if enough is left, and if it is only asked: a replica, whose data may be old,
    -- then answers READONLY. What has no end stays without one.
    if left ~= -1 then
        mine = redis.pcall('pexpire', name, math.max(1, left, lease))
    end
    if type(mine) == 'table' then
        if not string.find(mine.err, 'WRONGTYPE', 1, true) then
            return mine
        end
        mine = 0
    end
    held[i] = mine
end
return held
