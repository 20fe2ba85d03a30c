-- Takes a free lock and reserves fencing tokens for it. If the owner already has the lock, confirms
-- the hold.
-- KEYS: name, token counter.
-- ARGV: lease ms, owner, deadline in µs of this server's clock (0: none), number of tokens, 1: the
--   tokens are at least the time in µs.
-- Returns {1 granted | 0 busy | 2 late, ms left if busy (-1: no end), µs now or 0, first token}.
-- Redisson: RedissonFencedLock.
-- uses: deadline confirm fencing instead holder take

local now, late = clock_and_whether_late(ARGV[3])
if late then
    return {2, 0, now, 0}
end
local dated = ARGV[5] == '1'
if dated and now == 0 then
    return redis.pcall('time') -- the error names the missing permission
end

local left, holder, wrong = look_at_mutex(KEYS[1])
if wrong then
    return wrong
end
local mine = holder == ARGV[2]
if left ~= -2 and not mine then
    return {0, left, now, 0}
end

-- Reserve the tokens before taking the lock. An error in between then only wastes tokens, and no
-- token is granted twice.
local first, at_end = tokens_for(KEYS[2], tonumber(ARGV[4]), dated and now or 1, mine)
if at_end then
    return at_end
end
if mine then
    confirm_hold(KEYS[1], left, ARGV[1])
    return {1, 0, now, first}
end
return take_hold(KEYS[1], ARGV[2], ARGV[1]) or {1, 0, now, first}
