-- Stores the description of a client, so that other programs can show which client holds a lock.
-- KEYS: the client's key.
-- ARGV: ms that the key is kept (0: delete it), host, pid, program, label, since (s).
-- Returns OK, or the number of deleted keys. Redisson has no such script.

if ARGV[1] == '0' then
    return redis.call('del', KEYS[1])
end
local card = cjson.encode({host = ARGV[2], pid = tonumber(ARGV[3]), program = ARGV[4],
                           label = ARGV[5], since = tonumber(ARGV[6])})
return redis.call('set', KEYS[1], card, 'px', ARGV[1])
