-- Takes a free lock. If the lock is busy, adds the owner to the queue of waiting clients, or renews
-- its entry there. If the owner already has the lock, confirms the hold and never shortens it.
-- KEYS: name; fenced mutex: its token counter. The queue is an argument, so that a user without
--   rights on it can take the lock.
-- ARGV: lease ms, owner, deadline in µs of this server's clock (0: none), number of this request
--   (0: the owner does not join the queue), ms that the queue lasts after a request, queue; fenced
--   mutex: number of tokens, 1: the tokens are at least the time in µs.
-- Returns {1 granted | 0 busy | 2 late, ms left if busy (-1: no end), µs now or 0, 1 the owner is
--   in the queue | 0, first token (0: none)}.
-- uses: deadline confirm fencing instead holder queue take

local now, late = clock_and_whether_late(ARGV[3])
if late then
    return {2, 0, now, 0, 0}
end
local dated = ARGV[8] == '1'
if dated and now == 0 then
    return redis.pcall('time') -- the error names the missing permission
end

local number, count = tonumber(ARGV[4]), tonumber(ARGV[7] or '1')
local left, holder, wrong = look_at_mutex(KEYS[1])
if wrong then
    return wrong
end
local mine = holder == ARGV[2]
if left == -2 or mine then
    -- Reserve the tokens before taking the lock; see lock_fenced.
    local first, at_end = 0, nil
    if KEYS[2] then
        first, at_end = tokens_for(KEYS[2], count, dated and now or 1, mine)
    end
    if at_end then
        return at_end
    end
    if mine then
        confirm_hold(KEYS[1], left, ARGV[1])
        return {1, 0, now, 0, first}
    end
    local refused = take_hold(KEYS[1], ARGV[2], ARGV[1])
    if not refused and number > 1 then
        leave_queue(ARGV[6], ARGV[2])
    end
    return refused or {1, 0, now, 0, first}
end

-- Owners are in the queue in the order of their first requests, by this server's clock. If the user
-- lacks a permission or the server is full, the owner does not join the queue. The owner then waits
-- for the message that a release sends to all waiters, as Redisson does.
local joins = number > 0 and now > 0
if joins then
    local entry = entry_of(ARGV[2], KEYS[2], dated, count)
    local before = redis.pcall('zscore', ARGV[6], entry)
    local arrival = type(before) == 'string' and arrival_in(before) or math.floor(now / 1000)
    local added = redis.pcall('zadd', ARGV[6], score_of(arrival, number), entry)
    local lasts = redis.pcall('pexpire', ARGV[6], ARGV[5])
    joins = type(added) == 'number' and lasts == 1
    if not joins then
        leave_queue(ARGV[6], ARGV[2])
    end
end
return {0, left, now, joins and 1 or 0, 0}
