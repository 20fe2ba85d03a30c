-- Takes a free fair lock if it is its asker's turn; confirms, and never shortens, a hold that its
-- asker has already; else gives it a place behind all who wait, or confirms the place.
-- KEYS: name, queue, deadlines. ARGV: lease ms, owner, deadline in µs of this server's clock (0:
--   none), channel, publish command, 1 it waits | 0 one look, for how many ms its place outlives a
--   look, and a JVM's, perhaps another publish command.
-- Returns {1 granted | 0 busy | 2 late, ms left if busy (-1: no end), µs now, 1 the place is new,
--   2 it lasts as it did before}.
--   RedissonFairLock
-- uses: deadline confirm instead take tell turns

local clock, late = clock_and_whether_late(ARGV[3])
if clock == 0 then
    return redis.call('time') -- without it there is no order: the refusal says what is missing
end
if late then
    return {2, 0, clock, 0}
end

local left = redis.call('pttl', KEYS[1])
local fields = left ~= -2 and redis.pcall('hlen', KEYS[1])
local holder = fields == 1 and redis.call('hkeys', KEYS[1])[1]
if fields and not (holder and string.find(holder, owner_form)) then
    return another_kind(KEYS[1], 'a mutex', type(fields) == 'table' and fields)
end
if holder == ARGV[2] then
    confirm_hold(KEYS[1], left, ARGV[1])
    return {1, 0, clock, 0}
end

-- All is read before anything is written, what is new is written first, and what may empty a key
-- last: half of this must never be done.
local me, now, jvm_lasts = ARGV[2], math.floor(clock / 1000), tonumber(ARGV[8])
local queue = front_of_queue()
local first = first_in(queue, me, now)
local head = queue[first]

local function set_time(owner, time)
    return redis.pcall('zadd', KEYS[3], string.format('%.17g', time), owner)
end

-- The first `count` go; who is behind them begins its turn, at a lock that is held so long.
local function let_go(count, left)
    local next = queue[count + 1]
    local time, is_wrong
    if next and next ~= me then
        time, is_wrong = turn_of(next, count > 0, now, jvm_lasts, left)
        if is_wrong then
            set_time(next, time) -- or it stays as it is: who goes must go
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
    -- Whoever stands behind the part that was read has a time.
    if not queue[place] and (#queue < read_max or time_of(me) == 0) then
        place_said = 1
        redis.call('rpush', KEYS[2], me) -- first: without a time it blocks nobody
        table.insert(queue, me)
    end
    -- Never what it was before: a JVM that gives up takes from it no more than its own wait, and
    -- one that is taken away nothing. (Of JVMs that far ahead it may take more; the next look comes
    -- before they are through.)
    local lasts = tonumber(ARGV[7])
    local refused = set_time(me, score_for(lasts, now + lasts + jvms * jvm_lasts))
    if type(refused) == 'table' then
        -- A place on a full server lasts as its last look said: no reason to give up waiting.
        if place_said == 1 or not string.find(refused.err, 'OOM', 1, true) then
            return refused
        end
        place_said = 2
    end
end
local time = let_go(first - 1, left)
if left == -2 then -- free, and another's turn
    left = math.max(1, math.floor(time - now))
    -- Which nobody may have told: a JVM that gives up just when it is told tells nobody.
    tell(ARGV[4] .. ':' .. head, '0', ARGV[5], ARGV[9])
end
return {0, left, clock, place_said}
