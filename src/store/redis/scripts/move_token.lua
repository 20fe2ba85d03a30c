-- Transfers a lock whose key is a string with its owner's token to a new owner, which is another
-- client, with the lease of the new owner. The script can be repeated, and then never shortens the
-- lease.
-- KEYS: name.
-- ARGV: lease ms, present owner, new owner, deadline in µs of this server's clock (0: none).
-- Returns {1 granted | 0 neither owner holds the lock | 2 late, 0, µs now or 0}.
-- Redisson has no such script.
-- uses: deadline confirm

local now, late = clock_and_whether_late(ARGV[4])
if late then
    return {2, 0, now}
end

local holder = redis.pcall('get', KEYS[1])
if type(holder) == 'table' then
    -- If the key is of another kind now, the hold is gone.
    return string.find(holder.err, 'WRONGTYPE', 1, true) and {0, 0, now} or holder
end
if holder ~= ARGV[2] and holder ~= ARGV[3] then
    return {0, 0, now}
end
local left = redis.call('pttl', KEYS[1])
if holder == ARGV[2] then
    -- Write something before SET: a full server refuses SET until the script has written something,
    -- but never refuses PEXPIRE.
    if left ~= -1 then
        redis.pcall('pexpire', KEYS[1], math.max(1, left))
    end
    -- One command writes the owner and the lease. So the lock never stays without an end.
    local lease = string.format('%.0f', math.max(1, tonumber(ARGV[1])))
    local moved = left == -1 and redis.pcall('set', KEYS[1], ARGV[3]) or
        redis.pcall('set', KEYS[1], ARGV[3], 'px', lease)
    return moved.err and moved or {1, 0, now}
end
confirm_hold(KEYS[1], left, ARGV[1])
return {1, 0, now}
