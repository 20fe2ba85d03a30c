-- Ends the owner's hold of a fair lock, or its place in the queue, and notifies the next waiter.
-- The script can be repeated.
-- KEYS: name, queue, deadlines.
-- ARGV: owner, channel, publish command, ms that a Redisson waiter's place lasts, a second publish
--   command (optional).
-- Returns {1 it was held | 0 not held, receivers of other clients (-1: denied)}.
-- Redisson: RedissonFairLock.
-- uses: deadline tell turns

local told_max = 100
local me, jvm_lasts = ARGV[1], tonumber(ARGV[4])
local clock = clock_and_whether_late(0) -- 0 if TIME is denied: then treat no place as expired
local now = math.floor(clock / 1000)

-- The script reads all data before it writes. It ignores an error in the queue, because the lock
-- must be released in any case.
local owners = redis.pcall('hlen', KEYS[1])
local listed = redis.pcall('lrange', KEYS[2], 0, told_max)
local my_time = redis.pcall('zscore', KEYS[3], me)
local is_well = not listed.err and type(my_time) ~= 'table'
local queue = {}
for _, owner in ipairs(is_well and listed or {}) do
    if owner ~= me then
        table.insert(queue, owner)
    end
end
-- my_time alone is enough: the place may be in the part of the queue that was not read
local waited = is_well and (my_time or #queue < #listed)
local head = queue[1]
local head_is_new = head ~= listed[1]
local time, is_wrong
if head and clock > 0 then
    local frees = owners == 1 and redis.pcall('hexists', KEYS[1], me) == 1
    local left = not frees and redis.pcall('pttl', KEYS[1])
    time, is_wrong = turn_of(head, head_is_new, now, jvm_lasts, tonumber(left) or 0)
end

-- Notify expired waiters, too: by their own clocks, their places may not have expired. The first
-- waiter that has not expired will remove them.
local told = {}
for i = 1, math.min(#queue, told_max) do
    table.insert(told, queue[i])
    if (i == 1 and time or time_of(queue[i])) > now then
        break
    end
end

local ended = redis.pcall('hdel', KEYS[1], me)
if type(ended) == 'table' then
    if not string.find(ended.err, 'WRONGTYPE', 1, true) then
        return ended
    end
    ended = 0 -- the key has another kind now: the hold is gone
end
if is_wrong then
    redis.pcall('zadd', KEYS[3], string.format('%.17g', time), head)
end
if waited then
    redis.call('lrem', KEYS[2], 0, me)
    redis.call('zrem', KEYS[3], me)
end

-- Notify the next waiter even if the lease of this hold has ended. That waiter may have sent its
-- last request during an earlier hold with a longer lease, and would sleep until the end of that
-- lease.
local others, denied = 0, false
if owners == ended and (ended == 1 or head_is_new or not waited) then
    for _, owner in ipairs(told) do
        local receivers = tell(ARGV[2] .. ':' .. owner, '0', ARGV[3], ARGV[5])
        local is_of_this_client = string.sub(owner, 1, 37) == string.sub(me, 1, 37)
        denied = denied or receivers < 0
        others = others + (is_of_this_client and 0 or receivers)
    end
end
return {ended, denied and -1 or others}
