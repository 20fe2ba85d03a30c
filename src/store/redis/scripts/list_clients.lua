-- Returns the names of the clients in the index, which lists the clients with holds or waits. Names
-- of clients whose keys expire last come first.
-- KEYS: the index. ARGV: greatest number of names.
-- Returns the names. Redisson has no such script.
-- uses: deadline

local now = math.floor(clock_and_whether_late(0) / 1000)
return redis.call('zrevrangebyscore', KEYS[1], '+inf', string.format('%.0f', now), 'limit', 0,
                  ARGV[1])
