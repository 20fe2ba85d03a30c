-- Tells all there is to know about keys that may be locks.
-- KEYS: names. ARGV: the channel of each.
-- Returns for each {type, ms left (-1: no end), listeners (-1: denied), fields, field, value, ...}.
--   RedissonLock: TYPE, PTTL, HGETALL. Fields are counted, and told if they are few.

local fields_told_max = 100
local all = {}
for i, name in ipairs(KEYS) do
    local kind = redis.call('type', name).ok
    local heard = redis.pcall('pubsub', 'numsub', ARGV[i])
    local told = {kind, redis.call('pttl', name), heard.err and -1 or heard[2], 0}
    if kind == 'hash' then
        told[4] = redis.call('hlen', name)
        if told[4] <= fields_told_max then
            for _, word in ipairs(redis.call('hgetall', name)) do
                table.insert(told, word)
            end
        end
    end
    all[i] = told
end
return all
