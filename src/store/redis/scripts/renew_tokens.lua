-- Extends each hold whose key still is a string with its owner's token. The script never shortens
-- or creates a hold.
-- KEYS: names.
-- ARGV: lease ms (0: extend none), common prefix of the owners, then the remaining text of each
--   owner.
-- Returns for each name 1 still held | 0 lost. Redisson has no such script.
-- uses: elsewhere names

local lease = tonumber(ARGV[1])
return for_each_name(3, function(name, number)
    local holder = redis.pcall('get', name)
    if type(holder) == 'table' then
        return holder
    end
    if holder ~= ARGV[2] .. number then
        return 0
    end
    local left = redis.call('pttl', name)
    -- Write even if the present TTL is long enough; see renew_leases.lua. A key without an end
    -- stays without an end.
    return left == -1 and 1 or redis.pcall('pexpire', name, math.max(1, left, lease))
end)
