-- Tells who holds a lock and for how long.
-- KEYS: name. ARGV: none.
-- Returns {ms left (-1: no end), owner, ...} | {} it is free | {ms left, {owner}} it is a string.
--   RedissonLock: HGET, EXISTS, PTTL

local token_max = 200

local answer = redis.pcall('hkeys', KEYS[1])
if answer.err then
    if not string.find(answer.err, 'WRONGTYPE', 1, true) then
        return answer
    end
    local holder = redis.call('get', KEYS[1])
    return {redis.call('pttl', KEYS[1]), {string.sub(holder, 1, token_max)}}
end
if #answer > 0 then
    table.insert(answer, 1, redis.call('pttl', KEYS[1]))
end
return answer
