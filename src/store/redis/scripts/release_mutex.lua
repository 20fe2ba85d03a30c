-- Ends the owner's hold and notifies the waiters. The script can be repeated.
-- KEYS: name; spin lock: its waiters.
-- ARGV: owner, channel (empty: no message), publish command, a second publish command (optional).
-- Returns {1, receivers (-1: message denied); spin lock: number of other clients that wait} | {0,
--   0} if this owner does not hold it.
-- Redisson: RedissonLock.
-- uses: tell

-- The lock has one field, so HDEL deletes the key. Send the message after HDEL. So the lock is
-- released even if the server is full or the user may not publish.
local ended = redis.pcall('hdel', KEYS[1], ARGV[1])
if ended == 0 then
    return {0, 0}
end
if ended ~= 1 then
    -- If the key is of another kind now, the hold is gone.
    return string.find(ended.err, 'WRONGTYPE', 1, true) and {0, 0} or ended
end
if KEYS[2] then
    redis.pcall('hdel', KEYS[2], string.match(ARGV[1], '^[^:]*'))
    return {1, tonumber(redis.pcall('hlen', KEYS[2])) or 0}
end
return {1, ARGV[2] == '' and 0 or tell(ARGV[2], '0', ARGV[3], ARGV[4])}
