-- Takes a free lock. If the owner already has the lock, confirms the hold and never shortens it.
-- KEYS: name; spin lock: its waiters.
-- ARGV: lease ms, owner, deadline in µs of this server's clock (0: none); spin lock: ms for which
--   this client is recorded as a waiter (0: not at all).
-- Returns {1 granted | 0 busy | 2 late, ms left if busy (-1: no end), µs now or 0}.
-- Redisson: RedissonLock.
-- uses: deadline confirm instead holder take

local now, late = clock_and_whether_late(ARGV[3])
if late then
    return {2, 0, now}
end

local left, holder, wrong = look_at_mutex(KEYS[1])
if wrong then
    return wrong
end
if left == -2 then
    return take_hold(KEYS[1], ARGV[2], ARGV[1]) or {1, 0, now}
end
if holder ~= ARGV[2] then
    -- Waiters of a spin lock get no messages. So they record here that they wait, and the holder
    -- reads the record when it releases the lock. If the user lacks a permission or the server is
    -- full, there is no record, and the holder does not notice the waiter.
    if KEYS[2] and ARGV[4] ~= '0' then
        local client = string.match(ARGV[2], '^[^:]*')
        redis.pcall('hset', KEYS[2], client, '1')
        local lasts = redis.pcall('pttl', KEYS[2])
        if type(lasts) == 'number' and lasts < tonumber(ARGV[4]) then
            redis.pcall('pexpire', KEYS[2], ARGV[4])
        end
    end
    return {0, left, now}
end
confirm_hold(KEYS[1], left, ARGV[1])
return {1, 0, now}
