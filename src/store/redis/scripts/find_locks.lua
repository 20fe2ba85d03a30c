-- Looks at some more of a server's keys, and tells which of them may be locks.
-- KEYS: none. ARGV: cursor, pattern, how many to look at.
-- Returns {next cursor (0: that was all), name, ...}. Not of Redisson, which has no such list.

local step = redis.call('scan', ARGV[1], 'match', ARGV[2], 'count', ARGV[3], 'type', 'hash')
local found = {step[1]}
for _, name in ipairs(step[2]) do
    -- One owner, or a read-write lock's `mode`. In pcalls: a key this user may not see is no lock.
    local fields = redis.pcall('hlen', name)
    local owner = fields == 1 and redis.pcall('hkeys', name)[1] or ''
    if string.find(owner, '^%x+%-%x+%-%x+%-%x+%-%x+:%d+$') or
        redis.pcall('hexists', name, 'mode') == 1 then
        table.insert(found, name)
    end
end
return found
