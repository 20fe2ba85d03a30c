-- Scans a part of a server's keys, and returns the keys that may be counters of one kind.
-- KEYS: none.
-- ARGV: cursor, pattern, how many keys to scan, kind: 'number' (a semaphore or a latch), 'permits'
--   (a leased semaphore of which some permits are held) or 'rate'.
-- Returns {next cursor (0: the scan is complete), name, ...}. Redisson has no such script.
-- uses: number

-- Returns whether the key is a string with a number. Returns false if the user may not read the
-- key.
local function is_number(name)
    local value = redis.pcall('getrange', name, 0, 20)
    return type(value) == 'string' and is_whole_number(value)
end

-- Returns whether the key stores additional data of a fenced lock or a rate limiter.
local function is_a_part(name)
    return string.find(name, '^redisson_') or string.find(name, '^holdfast_') or
        string.find(name, ':value$') or string.find(name, ':value:%x+%-%x+%-%x+%-%x+%-%x+$')
end

local function has_held_permits(name)
    return redis.pcall('type', held_permits_of(name)).ok == 'zset'
end

local function is_rate(name)
    local fields = redis.pcall('hmget', name, 'rate', 'interval', 'type')
    return fields[1] and fields[2] and fields[3]
end

local function is_such(name, kind)
    if ARGV[4] == 'rate' then
        return kind == 'hash' and is_rate(name)
    end
    return kind == 'string' and is_number(name) and not is_a_part(name) and
        has_held_permits(name) == (ARGV[4] == 'permits')
end

local step = redis.call('scan', ARGV[1], 'match', ARGV[2], 'count', ARGV[3])
local found = {step[1]}
for _, name in ipairs(step[2]) do
    if is_such(name, redis.pcall('type', name).ok) then
        table.insert(found, name)
    end
end
return found
