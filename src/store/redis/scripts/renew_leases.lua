-- Extends each hold that is still its owner's, shortens none, brings none back.
-- KEYS: names. ARGV: lease ms (0: only ask), what all owners begin with, then the rest of each.
-- Returns for each name 1 still its owner's | 0 not any more. Redisson's LockTask (the watchdog)

local lease = tonumber(ARGV[1])
local held = {}
for i, name in ipairs(KEYS) do
    -- In pcalls, so that a name that has become something else does not spoil the others' answers.
    -- Any other trouble (rights, a replica) is everybody's, and must not pass for a lost lease.
    local mine = redis.pcall('hexists', name, ARGV[2] .. ARGV[i + 2])
    if mine == 1 and lease > 0 and redis.call('pttl', name) < lease then
        mine = redis.pcall('pexpire', name, ARGV[1])
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
