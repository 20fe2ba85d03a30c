-- Takes a free lock and reserves fencing tokens for it. Confirms a hold that the owner has already.
-- KEYS: name, token counter.
-- ARGV: lease ms, owner, deadline in µs of this server's clock (0: none), number of tokens, 1: the
--   tokens are at least the time in µs.
-- Returns {1 granted | 0 busy | 2 late, ms left if busy (-1: no end), µs now or 0, first token}.
-- Redisson: RedissonFencedLock.
-- uses: deadline confirm instead holder take

local tokens_end = 2^53 -- Lua numbers are exact only below this value

local now, late = clock_and_whether_late(ARGV[3])
if late then
    return {2, 0, now, 0}
end
local dated = ARGV[5] == '1'
if dated and now == 0 then
    return redis.pcall('time') -- the error names the missing permission
end

local count = tonumber(ARGV[4])
local left, holder, wrong = look_at_mutex(KEYS[1])
if wrong then
    return wrong
end
local mine = holder == ARGV[2]
if left ~= -2 and not mine then
    return {0, left, now, 0}
end

-- Reserve the tokens before the lock is taken. So an error between these steps wastes tokens, but
-- no token is granted twice. If the counter has lost the tokens of an existing hold, the hold gets
-- new tokens.
local last = tonumber(redis.call('get', KEYS[2]) or '0')
if not mine or (last or 0) < count then
    local first = math.max((last or 0) + 1, dated and now or 1)
    if first + count >= tokens_end then
        return redis.error_reply('ERR the fencing tokens of this lock have come to their end')
    end
    local more = string.format('%.0f', first + count - 1 - (last or 0))
    last = redis.call('incrby', KEYS[2], more)
end
local first = last - count + 1

if mine then
    confirm_hold(KEYS[1], left, ARGV[1])
    return {1, 0, now, first}
end
return take_hold(KEYS[1], ARGV[2], ARGV[1]) or {1, 0, now, first}
