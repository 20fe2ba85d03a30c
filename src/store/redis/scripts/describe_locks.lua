-- Tells all there is to know about keys that may be locks.
-- KEYS: names. ARGV: the channel of each, then the token counter of each.
-- Returns for each {type, ms left (-1: no end), listeners (-1: denied), last token (0: none, or it
--   may not be told), fields, field, value, ...}.
--   RedissonLock: TYPE, PTTL, HGETALL. Fields are counted; if they are many, only `mode` is told.

local fields_told_max = 100
local all = {}
for i, name in ipairs(KEYS) do
    local kind = redis.call('type', name).ok
    local heard = redis.pcall('pubsub', 'numsub', ARGV[i])
    local told = {kind, redis.call('pttl', name), heard.err and -1 or heard[2], 0, 0}
    if kind == 'hash' then
        local token = redis.pcall('get', ARGV[#KEYS + i])
        told[4] = type(token) == 'string' and tonumber(token:match('^%d+$')) or 0
        told[5] = redis.call('hlen', name)
        local mode = redis.call('hget', name, 'mode')
        local words = told[5] <= fields_told_max and redis.call('hgetall', name) or
            mode and {'mode', mode} or {}
        for _, word in ipairs(words) do
            table.insert(told, word)
        end
    end
    all[i] = told
end
return all
