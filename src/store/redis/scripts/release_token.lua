-- Deletes a lock's string if it is the owner's token. Notifies waiters. The script can be repeated.
-- KEYS: name. ARGV: owner, channel, publish command, a second publish command (optional).
-- Returns {1, receivers (-1: message denied)} | {0, 0} if this owner does not hold it.
--   Redisson has no such script.
-- uses: tell

local holder = redis.pcall('get', KEYS[1])
if holder ~= ARGV[1] then
    -- If the key is of another kind now, this owner's hold is gone.
    local denied = type(holder) == 'table' and not string.find(holder.err, 'WRONGTYPE', 1, true)
    return denied and holder or {0, 0}
end
-- Send the message after the key is deleted, so that a denied message cannot keep the lock held.
redis.call('del', KEYS[1])
return {1, tell(ARGV[2], '0', ARGV[3], ARGV[4])}
