-- Returns for each channel the number of connections of this server that subscribe to it. Returns
-- nil if the command is denied. If `are_sharded`, adds the sharded subscriptions, which servers
-- before 7.0 do not have.

local function listeners_of(channels, are_sharded)
    local plain = redis.pcall('pubsub', 'numsub', unpack(channels))
    if plain.err then
        return nil
    end
    local sharded = are_sharded and redis.pcall('pubsub', 'shardnumsub', unpack(channels))
    local counts = {}
    for i = 2, #plain, 2 do
        table.insert(counts, plain[i] + (sharded and sharded[i] or 0))
    end
    return counts
end

