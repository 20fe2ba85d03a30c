-- Adds a client to the index, which lists the clients with holds or waits, or removes the client
-- from it. Used only in a cluster, where the index and the client's key are in different slots.
-- KEYS: the index.
-- ARGV: the client's name in the index, ms that the client's key is kept (0: remove the client).
-- Returns OK. Redisson has no such script.
-- uses: deadline index

write_index(KEYS[1], ARGV[1], math.floor(clock_and_whether_late(0) / 1000), tonumber(ARGV[2]))
return redis.status_reply('OK')
