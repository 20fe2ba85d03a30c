-- Scans a part of a server's keys, and returns the keys that may be locks.
-- KEYS: none. ARGV: cursor, pattern, how many keys to scan.
-- Returns {next cursor (0: the scan is complete), name, ...}. Redisson has no such script.
-- uses: tokens

-- Returns whether the hash may be a lock: it has one owner, or the field `mode` of a read-write
-- lock. Returns false if the user may not read the key.
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
    local kind = redis.pcall('type', name).ok or 'hash' -- describe_locks reports a denied TYPE
    if kind == 'hash' and is_hash_of_lock(name) or kind == 'string' and is_string_of_ours(name) then
        table.insert(found, name)
    end
end
return found
