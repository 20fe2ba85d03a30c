-- Gives permits back, as many as are still there, and tells who waits. Repeating it is harmless.
-- KEYS: name, held permits. ARGV: first number, how many, what the ids begin with, channel, publish
--   command, perhaps another.
-- Returns {1 all were held | 0 not all, or one was over, receivers (-1: message denied)}. release
--   of RedissonPermitExpirableSemaphore
-- uses: deadline permits tell

local now = math.floor(clock_and_whether_late('0') / 1000)
local there, in_time, as_it_was = {}, 0, {}
for _, id in ipairs(permit_ids(ARGV[3], ARGV[1], ARGV[2])) do
    local ends = redis.pcall('zscore', KEYS[2], id)
    if type(ends) == 'table' then
        -- Whatever took the key's place, these permits are gone.
        return string.find(ends.err, 'WRONGTYPE', 1, true) and {0, 0} or ends
    end
    if ends then
        table.insert(there, id)
        table.insert(as_it_was, ends)
        table.insert(as_it_was, id)
        in_time = in_time + (tonumber(ends) > now and 1 or 0)
    end
end
if #there == 0 then
    return {0, 0}
end
-- First what a full server does not refuse either.
redis.call('zrem', KEYS[2], unpack(there))
local value = redis.pcall('incrby', KEYS[1], #there)
if type(value) == 'table' then
    redis.call('zadd', KEYS[2], unpack(as_it_was))
    return value
end
local told = value > 0 and tell(ARGV[4], string.format('%.0f', value), ARGV[5], ARGV[6]) or 0
return {in_time == tonumber(ARGV[2]) and 1 or 0, told}
