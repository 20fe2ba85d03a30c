-- Takes a free lock. If it is busy, adds the owner to the queue of waiting clients, or renews its
-- entry there. Confirms a hold that the owner has already, and never shortens it.
-- KEYS: name. The queue is an argument, so that a user without rights on it can take the lock.
-- ARGV: lease ms, owner, deadline in µs of this server's clock (0: none), number of this request
--   (0: the owner does not join the queue), ms that the queue lasts after a request, queue.
-- Returns {1 granted | 0 busy | 2 late, ms left if busy (-1: no end), µs now or 0, 1 the owner is
--   in the queue | 0}.
-- uses: deadline confirm instead holder queue take

local now, late = clock_and_whether_late(ARGV[3])
if late then
    return {2, 0, now, 0}
end

local number = tonumber(ARGV[4])
local left, holder, wrong = look_at_mutex(KEYS[1])
if wrong then
    return wrong
end
if left == -2 then
    local refused = take_hold(KEYS[1], ARGV[2], ARGV[1])
    if not refused and number > 1 then
        redis.pcall('zrem', ARGV[6], ARGV[2])
    end
    return refused or {1, 0, now, 0}
end
if holder == ARGV[2] then
    confirm_hold(KEYS[1], left, ARGV[1])
    return {1, 0, now, 0}
end

-- The order in the queue is that of the first requests, by this server's clock. If the user lacks
-- the permissions, or if the server is full, the owner does not join. It then waits like a JVM.
local joins = number > 0 and now > 0
if joins then
    local before = redis.pcall('zscore', ARGV[6], ARGV[2])
    local arrival = type(before) == 'string' and arrival_in(before) or math.floor(now / 1000)
    local added = redis.pcall('zadd', ARGV[6], score_of(arrival, number), ARGV[2])
    local lasts = redis.pcall('pexpire', ARGV[6], ARGV[5])
    joins = type(added) == 'number' and lasts == 1
    if not joins then
        redis.pcall('zrem', ARGV[6], ARGV[2])
    end
end
return {0, left, now, joins and 1 or 0}
