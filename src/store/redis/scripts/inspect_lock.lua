-- Tells who holds a lock and for how long.
-- KEYS: name. ARGV: none.
-- Returns {ms left (-1: no end), owner, ...} | {} it is free. RedissonLock: HGET, EXISTS, PTTL

local answer = redis.call('hkeys', KEYS[1])
if #answer > 0 then
    table.insert(answer, 1, redis.call('pttl', KEYS[1]))
end
return answer
