-- Gives back the permits that are still held, and notifies the waiters. The script can be repeated.
-- KEYS: name, held permits.
-- ARGV: first number, how many, prefix of the ids, channel, publish command, a second publish
--   command (optional).
-- Returns {1 all were held | 0 some were missing or expired, receivers (-1: message denied)}.
-- Redisson: release of RedissonPermitExpirableSemaphore.
-- uses: deadline instead permits tell

local now = math.floor(clock_and_whether_late('0') / 1000)
local there, in_time, as_it_was = {}, 0, {}
for _, id in ipairs(permit_ids(ARGV[3], ARGV[1], ARGV[2])) do
    local ends = redis.pcall('zscore', KEYS[2], id)
    if type(ends) == 'table' then
        -- If the key is of another kind now, the permits are gone.
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
-- Call ZREM first: a full server accepts it.
redis.call('zrem', KEYS[2], unpack(there))
local value = redis.pcall('incrby', KEYS[1], #there)
if type(value) == 'table' then
    redis.call('zadd', KEYS[2], unpack(as_it_was))
    local is_no_number = string.find(value.err, 'not an integer', 1, true)
    return is_no_number and another_kind(KEYS[1], 'a leased semaphore') or value
end
local told = value > 0 and tell(ARGV[4], string.format('%.0f', value), ARGV[5], ARGV[6]) or 0
return {in_time == tonumber(ARGV[2]) and 1 or 0, told}
