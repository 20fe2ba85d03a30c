-- Ends whatever hold there is on a lock and wakes who waits.
-- KEYS: name. ARGV: channel, publish command.
-- Returns 1 | 0 it was free; an error if the key is no lock. RedissonLock.forceUnlock

if redis.call('hlen', KEYS[1]) == 0 then
    return 0
end
redis.call('del', KEYS[1])
redis.pcall(ARGV[2], ARGV[1], '0')
return 1
