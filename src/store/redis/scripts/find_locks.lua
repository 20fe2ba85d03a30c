-- Looks at some more of a server's keys, and tells which of them may be locks.
-- KEYS: none. ARGV: cursor, pattern, how many to look at.
-- Returns {next cursor (0: that was all), name, ...}. Not of Redisson, which has no such list
-- uses: tokens

-- One owner, or a read-write lock's `mode`. In pcalls: a key this user may not see is no lock.
local function is_hash_of_lock(name)
    local fields = redis.pcall('hlen', name)
    local owner = fields == 1 and redis.pcall('hkeys', name)[1] or ''
    return string.find(owner, '^%x+%-%x+%-%x+%-%x+%-%x+:%d+$') or
        redis.pcall('hexists', name, 'mode') == 1
end

local function is_string_of_ours(name)
    local token = redis.pcall('getrange', name, 0, 60)
    return type(token) == 'string' and is_token_of_ours(token)
end

local step = redis.call('scan', ARGV[1], 'match', ARGV[2], 'count', ARGV[3])
local found = {step[1]}
for _, name in ipairs(step[2]) do
    local kind = redis.pcall('type', name).ok or 'hash' -- not allowed: describe_locks says so
    if kind == 'hash' and is_hash_of_lock(name) or kind == 'string' and is_string_of_ours(name) then
        table.insert(found, name)
    end
end
return found
