-- Transfers a hold to a new owner, which is another client, with the lease of the new owner. The
-- script can be repeated: if the new owner already has the hold, the script confirms it and never
-- shortens it.
-- KEYS: name.
-- ARGV: lease ms, field of the present owner, field of the new owner, deadline in µs of this
--   server's clock (0: none).
-- Returns {1 granted | 0 neither owner holds the lock | 2 late, 0, µs now or 0}.
-- Redisson has no such script.
-- uses: deadline confirm full

local now, late = clock_and_whether_late(ARGV[4])
if late then
    return {2, 0, now}
end

local mine = redis.pcall('hexists', KEYS[1], ARGV[3])
if type(mine) == 'table' then
    -- If the key is of another kind now, the hold is gone.
    return string.find(mine.err, 'WRONGTYPE', 1, true) and {0, 0, now} or mine
end
local left = redis.call('pttl', KEYS[1])
if mine == 0 then
    if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then
        return {0, 0, now}
    end
    -- Write the new field first, so that the key and its TTL stay.
    write_although_full('hdel', KEYS[1])
    redis.call('hset', KEYS[1], ARGV[3], '1')
    redis.call('hdel', KEYS[1], ARGV[2])
    -- Set the new lease: if the new owner dies, the lock must not stay held for the rest of a long
    -- lease.
    if left ~= -1 then
        redis.call('pexpire', KEYS[1], math.max(1, tonumber(ARGV[1])))
    end
    return {1, 0, now}
end
confirm_hold(KEYS[1], left, ARGV[1])
return {1, 0, now}
