-- Extends each hold that its owner still has. The script never shortens or creates a hold.
-- KEYS: names.
-- ARGV: lease ms (0: extend none), common prefix of the owners, then the remaining text of each
--   owner.
-- Returns for each name 1 still held | 0 lost. Redisson: LockTask (the watchdog).
-- uses: elsewhere names

local lease = tonumber(ARGV[1])
return for_each_name(3, function(name, number)
    local mine = redis.pcall('hexists', name, ARGV[2] .. number)
    local left = mine == 1 and redis.call('pttl', name) or -1
    -- Write the TTL even if it is long enough already, or if the caller only asks whether the hold
    -- exists. So a replica with old data cannot answer: it replies READONLY. A key without an end
    -- stays without an end.
    return left == -1 and mine or redis.pcall('pexpire', name, math.max(1, left, lease))
end)
