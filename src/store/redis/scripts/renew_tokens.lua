-- Extends each hold whose string is still its owner's, shortens none, brings none back.
-- KEYS: names. ARGV: lease ms (0: extend none), what all owners begin with, then the rest of each.
-- Returns for each name 1 still its owner's | 0 not any more. Not of Redisson
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
    -- Written even if enough is left, see renew_leases.lua. What has no end stays without one.
    return left == -1 and 1 or redis.pcall('pexpire', name, math.max(1, left, lease))
end)
