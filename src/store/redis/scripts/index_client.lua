-- Adds a client to the index, which lists the clients with holds or waits, or removes the client
-- from it. Used only in a cluster, where the index and the client's key are in different slots.
-- KEYS: the index.
-- ARGV: the client's name in the index, ms that the client's key is kept (0: remove the client).
-- Returns OK, or the error text if the index could not be written. Redisson has no such script.
-- uses: deadline index

local now = math.floor(clock_and_whether_late(0) / 1000)
local refusal = write_index(KEYS[1], ARGV[1], now, tonumber(ARGV[2]))
return refusal == '' and redis.status_reply('OK') or refusal
