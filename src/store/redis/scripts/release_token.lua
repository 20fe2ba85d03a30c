-- Deletes a lock's string if its asker wrote it, and wakes who waits. Repeating it is harmless.
-- KEYS: name. ARGV: owner, channel, publish command, perhaps another.
-- Returns {1, receivers (-1: message denied)} | {0, 0} nothing of this owner here. Not of Redisson
-- uses: tell

local holder = redis.pcall('get', KEYS[1])
if holder ~= ARGV[1] then
    -- Whatever took the key's place, this owner's hold is gone.
    local denied = type(holder) == 'table' and not string.find(holder.err, 'WRONGTYPE', 1, true)
    return denied and holder or {0, 0}
end
-- Deleted first and told last, so that a denied message does not keep the lock.
redis.call('del', KEYS[1])
return {1, tell(ARGV[2], '0', ARGV[3], ARGV[4])}
