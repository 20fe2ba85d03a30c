-- Ends its asker's hold and wakes who waits. Repeating it is harmless.
-- KEYS: name; of a spin lock, who waits. ARGV: owner, channel (empty: none is told), publish
--   command, perhaps another.
-- Returns {1, receivers (-1: message denied), or of a spin lock, other clients that wait} | {0, 0}
--   nothing of this owner here. RedissonLock
-- uses: tell

-- One owner, one field, one count: the key goes with it. Deleted first and told last, so that
-- neither a full server nor a denied message keeps the lock.
local ended = redis.pcall('hdel', KEYS[1], ARGV[1])
if ended == 0 then
    return {0, 0}
end
if ended ~= 1 then
    -- Whatever took the key's place, this owner's hold is gone.
    return string.find(ended.err, 'WRONGTYPE', 1, true) and {0, 0} or ended
end
if KEYS[2] then
    redis.pcall('hdel', KEYS[2], string.match(ARGV[1], '^[^:]*'))
    return {1, tonumber(redis.pcall('hlen', KEYS[2])) or 0}
end
return {1, ARGV[2] == '' and 0 or tell(ARGV[2], '0', ARGV[3], ARGV[4])}
