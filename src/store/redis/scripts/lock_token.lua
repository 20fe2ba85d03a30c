-- Takes a free lock whose key is a string with its owner's token, as SET NX PX does. If the owner
-- already has the lock, confirms the hold and never shortens it.
-- KEYS: name. ARGV: lease ms, owner, deadline in µs of this server's clock (0: none).
-- Returns {1 granted | 0 busy | 2 late, ms left if busy (-1: no end), µs now or 0, 1 if a holdfast
--   client holds it, which will notify waiters | 0}. Redisson has no such script.
-- uses: deadline confirm instead number tokens

local now, late = clock_and_whether_late(ARGV[3])
if late then
    return {2, 0, now, 0}
end

local holder = redis.pcall('get', KEYS[1])
if type(holder) == 'table' then
    return another_kind(KEYS[1], 'a token lock', holder)
end
if not holder then
    -- If the server refuses the lease, the lock is not taken.
    local taken = redis.pcall('set', KEYS[1], ARGV[2], 'px', ARGV[1])
    return taken.err and taken or {1, 0, now, 0}
end

local left = redis.call('pttl', KEYS[1])
if holder ~= ARGV[2] and is_counter(KEYS[1], holder, left) then
    return another_kind(KEYS[1], 'a token lock')
end
if holder ~= ARGV[2] then
    return {0, left, now, is_token_of_ours(holder) and 1 or 0}
end
confirm_hold(KEYS[1], left, ARGV[1])
return {1, 0, now, 0}
