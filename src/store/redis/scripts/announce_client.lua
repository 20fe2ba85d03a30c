-- Says who a client is, for whoever asks who holds its locks.
-- KEYS: the client's key. ARGV: ms it is kept (0: away with it), host, pid, program, label, since.
-- Returns OK | how many keys went. Not of Redisson.

if ARGV[1] == '0' then
    return redis.call('del', KEYS[1])
end
local card = cjson.encode({host = ARGV[2], pid = tonumber(ARGV[3]), program = ARGV[4],
                           label = ARGV[5], since = tonumber(ARGV[6])})
return redis.call('set', KEYS[1], card, 'px', ARGV[1])
