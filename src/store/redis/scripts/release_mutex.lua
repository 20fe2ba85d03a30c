-- Ends its asker's hold and wakes who waits. Repeating it is harmless.
-- KEYS: name. ARGV: owner, channel, publish command.
-- Returns {1, receivers (-1: message denied)} | {0, 0} nothing of this owner here. RedissonLock

local mine = redis.pcall('hexists', KEYS[1], ARGV[1])
if mine == 0 then
    return {0, 0}
end
if mine ~= 1 then
    -- Whatever took the key's place, this owner's hold is gone.
    return string.find(mine.err, 'WRONGTYPE', 1, true) and {0, 0} or mine
end

-- Deleted first and told last, so that neither a full server nor a denied message keeps the lock.
redis.call('del', KEYS[1])
local receivers = redis.pcall(ARGV[3], ARGV[2], '0')
return {1, type(receivers) == 'number' and receivers or -1}
