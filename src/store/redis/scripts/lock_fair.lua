-- Takes a free fair lock if it is the owner's turn. If the owner already has the lock, confirms the
-- hold and never shortens it. Otherwise adds the owner to the end of the queue, or renews its place
-- there.
-- KEYS: name, queue, deadlines.
-- ARGV: lease ms, owner, deadline in µs of this server's clock (0: none), channel, publish command,
--   1 the owner waits | 0 it asks once, ms that its place lasts after a request, ms that a
--   Redisson waiter's place lasts, a second publish command (optional).
-- Returns {1 granted | 0 busy | 2 late, ms left if busy (-1: no end), µs now, 1 the place is new |
--   2 the place was not renewed | 0}.
-- Redisson: RedissonFairLock.
-- uses: deadline confirm instead holder take tell turns

local clock, late = clock_and_whether_late(ARGV[3])
if clock == 0 then
    return redis.call('time') -- no queue order without TIME; the error names this permission
end
if late then
    return {2, 0, clock, 0}
end

local left, holder, wrong = look_at_mutex(KEYS[1])
if wrong then
    return wrong
end
if holder == ARGV[2] then
    confirm_hold(KEYS[1], left, ARGV[1])
    return {1, 0, clock, 0}
end

-- The script reads all data before it writes, and adds new entries before it removes old entries.
-- So an error in between does no harm.
local me, now, jvm_lasts = ARGV[2], math.floor(clock / 1000), tonumber(ARGV[8])
local queue = front_of_queue()
local first = first_in(queue, me, now)
local head = queue[first]

local function set_time(owner, time)
    return redis.pcall('zadd', KEYS[3], string.format('%.17g', time), owner)
end

-- Removes the first `count` waiters, and begins the turn of the waiter after them. `left` is the
-- remaining lease of the holder (ms; -1: no end).
local function let_go(count, left)
    local next = queue[count + 1]
    local time, is_wrong
    if next and next ~= me then
        time, is_wrong = turn_of(next, count > 0, now, jvm_lasts, left)
        if is_wrong then
            set_time(next, time) -- ignore an error: the removal must go on
        end
    end
    for i = 1, count do
        redis.call('lpop', KEYS[2])
    end
    if count > 0 then
        redis.call('zrem', KEYS[3], unpack(queue, 1, count))
    end
    return time
end

if left == -2 and (not head or head == me) then
    local refused = take_hold(KEYS[1], me, ARGV[1])
    if refused then
        return refused
    end
    let_go(head and first or #queue, tonumber(ARGV[1]))
    return {1, 0, clock, 0}
end

local place_said = 0
if ARGV[6] == '1' then
    local jvms, place = 0, first
    while queue[place] and queue[place] ~= me do
        jvms = jvms + (is_ours(queue[place]) and 0 or 1)
        place = place + 1
    end
    -- If the queue is so long that the script did not read the owner's place, the owner's score
    -- shows that the owner is in the queue.
    if not queue[place] and (#queue < read_max or time_of(me) == 0) then
        place_said = 1
        -- the entry comes first: an entry without a score blocks no waiter
        redis.call('rpush', KEYS[2], me)
        table.insert(queue, me)
    end
    -- Compute the score from the present time, never from the old score. When a waiter of Redisson
    -- gives up, it subtracts its own wait from all scores behind it. So this score loses at most
    -- the waits that were added to it here. (Far behind many such waiters, more may be subtracted.
    -- But the owner sends its next request before all of them have had the lock.)
    local lasts = tonumber(ARGV[7])
    local refused = set_time(me, score_for(lasts, now + lasts + jvms * jvm_lasts))
    if type(refused) == 'table' then
        -- A full server does not renew the place, but the place lasts as long as the last
        -- successful request said. So the waiter need not give up.
        if place_said == 1 or not string.find(refused.err, 'OOM', 1, true) then
            return refused
        end
        place_said = 2
    end
end
local time = let_go(first - 1, left)
if left == -2 then -- the lock is free, but another owner is next
    left = math.max(1, math.floor(time - now))
    -- Notify the first waiter, because it may have missed its notification: a waiter of Redisson
    -- that gives up just when it is notified does not notify the next waiter.
    tell(ARGV[4] .. ':' .. head, '0', ARGV[5], ARGV[9])
end
return {0, left, clock, place_said}
