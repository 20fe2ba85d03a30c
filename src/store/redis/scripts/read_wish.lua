-- Reads the wish that is stored for one owner of a lock.
-- KEYS: key of the wish. ARGV: owner.
-- Returns {process that asks, reason} | {} there is no wish for this owner. Redisson has no such
--   script.

if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
    return {}
end
return {redis.call('hget', KEYS[1], 'from'), redis.call('hget', KEYS[1], 'reason')}
