-- A rate limiter in Redisson's form. A hash has the rate and the interval. A number says how many
-- permits are left. A sorted set has the draws (granted requests) that still use permits, each with
-- its time (ms) as the score.
-- KEYS: name, permits left, this client's permits left, draws, this client's draws.

-- Returns the number of permits of a draw: the last four bytes of its member, lowest byte first.
-- This is so in all formats of Redisson.
local function count_in(member)
    local a, b, c, d = string.byte(member, -4, -1)
    return a + 256 * (b + 256 * (c + 256 * d))
end

local function member_with(member, count)
    local bytes = {}
    for i = 1, 4 do
        bytes[i] = string.char(count % 256)
        count = math.floor(count / 256)
    end
    return string.sub(member, 1, -5) .. table.concat(bytes)
end

-- Redisson version that can read a draw, by the length of its member; see docs/protocol/rate.md.
local form_of_length = {[8] = '3.13', [20] = '3.16', [13] = '3.17', [21] = '3.17'}

-- Returns an error if the oldest draw that still counts has another format than this member;
-- otherwise nil. Redisson reads only one format, and would read wrong numbers from the other.
local function trouble_with_draws(limiter, edge, member)
    local first = redis.call('zrangebyscore', limiter.draws, '(' .. edge, '+inf', 'limit', 0, 1)[1]
    local form = first and form_of_length[#first]
    if form and form ~= form_of_length[#member] then
        return redis.error_reply('WRONGTYPE the draws here are of another form, which redisson=' ..
            form .. ' in the URL has (redis::options::redisson)')
    end
end

local function limiter_of(name)
    local stored = redis.pcall('hmget', name, 'rate', 'interval', 'type', 'keepAliveTime')
    if stored.err then
        return nil, another_kind(name, 'a rate limiter', stored)
    end
    local rate, interval = tonumber(stored[1]), tonumber(stored[2])
    if rate and interval and stored[3] then
        local per_client = stored[3] == '1'
        return {
            rate = rate,
            interval = interval,
            -- how long a draw counts; +1 because its time was rounded down
            lasts = interval + 1,
            per_client = per_client,
            kept = tonumber(stored[4]) or 0,
            left = KEYS[per_client and 3 or 2],
            draws = KEYS[per_client and 5 or 4]
        }
    end
    if redis.call('exists', name) == 1 then
        return nil, another_kind(name, 'a rate limiter')
    end
end

local function not_set()
    return redis.error_reply('ERR the rate limiter is not set: call try_set_rate() first')
end

local function sum_of(members)
    local sum = 0
    for _, member in ipairs(members) do
        sum = sum + count_in(member)
    end
    return sum
end

-- Returns a time (ms, as text). Draws at this time or earlier have expired.
local function edge_of(limiter, clock)
    return string.format('%.0f', math.floor(clock / 1000) - limiter.lasts)
end

-- Up to this number of unexpired draws of a single client, each request adds up their permits.
local added_up_max = 100

-- Returns how many permits can be drawn now, how many draws have expired, and the first number
-- before it was raised to 0. That number is negative if the rate was lowered after permits were
-- drawn.
--
-- The function uses the stored number of permits left, plus the permits of expired draws. If this
-- sum may be wrong, it adds up the permits of all unexpired draws instead. The sum may be wrong if:
-- - The stored number is missing, or the sum is greater than the rate.
-- - The number belongs to a single client, and the sum plus one permit for each unexpired draw is
--   greater than the rate. (An overall number may be that great, because Redisson's release() adds
--   to it and does not remove the draws.)
-- - Fewer than `wanted` permits are free, and the sum plus the number of unexpired draws is less
--   than the rate. Then the stored number may be too small.
-- - The number belongs to a single client with few unexpired draws: when Redisson changes the rate,
--   it does not change this number.
local function free_in(limiter, edge, wanted)
    local gone = redis.call('zrangebyscore', limiter.draws, '-inf', edge)
    local stored = tonumber(redis.call('get', limiter.left))
    limiter.stored = stored
    local count = redis.call('zcard', limiter.draws) - #gone
    local free = stored and stored + sum_of(gone)
    local all = free and free + count
    local most = limiter.per_client and all or free
    if not free or most > limiter.rate or free < wanted and all < limiter.rate or
        limiter.per_client and count <= added_up_max then
        local drawn = sum_of(redis.call('zrangebyscore', limiter.draws, '(' .. edge, '+inf'))
        free = limiter.rate - drawn
    end
    return math.max(0, free), #gone, free
end

-- Stores the number of permits left. Call free_in first, because it reads the stored number. Call
-- this function before you add a draw, and after you remove expired draws. If the script fails in
-- between, the stored number is too small. That does no harm, because free_in then adds up the
-- draws.
local function keep_left(limiter, left)
    if not limiter.stored then -- missing, or not a number
        redis.call('del', limiter.left)
    end
    redis.call('incrby', limiter.left, string.format('%.0f', left - (limiter.stored or 0)))
end

-- Sorted set of the holdfast clients that draw from a rate of their own. The score is the time (ms)
-- at which the client's draws expire. change_rate reads the set to find the keys of these clients.
local clients = string.gsub(KEYS[2], 'value$', 'clients')

-- Records that this client has draws of its own until `lasts` ms after `now`. If the commands are
-- denied, the function goes on, but a later change of the rate may miss these draws.
local function note_client(now, lasts)
    local id = string.sub(KEYS[3], #KEYS[2] + 2)
    if redis.pcall('zadd', clients, string.format('%.0f', now + lasts), id) == 1 then
        redis.pcall('zremrangebyscore', clients, '-inf', string.format('%.0f', now))
    end
    local left = redis.pcall('pttl', clients)
    if type(left) == 'number' and left < lasts then
        redis.pcall('pexpire', clients, string.format('%.0f', lasts))
    end
end

-- Returns the TTL (ms) of the keys of a single client after a draw. The keys need a TTL because no
-- script deletes them. The TTL is that of the limiter, or two intervals if the limiter has none. It
-- is never shorter than the time for which a draw counts.
local function client_keys_last(limiter, left_of_limiter)
    local lasts = left_of_limiter > 0 and left_of_limiter or 2 * limiter.interval
    return math.max(lasts, limiter.lasts)
end

-- Least time (ms) that a waiter needs to ask again after its wait.
local waiter_needs = 1000

-- Returns the TTL (ms) of a limiter whose waiters ask again after `wait` ms.
local function needed_by_waiter(wait, kept)
    return wait + math.max(kept, waiter_needs)
end

-- Sets the TTL of the limiter's keys. An unused limiter expires after its `kept` time. The keys of
-- a single client always have a TTL. If a waiter sleeps for `wait` ms, no key expires earlier.
-- Returns the server's error if a command was refused, otherwise nil.
local function keep_state(limiter, clock, wait)
    local lasts = redis.pcall('pttl', KEYS[1])
    if type(lasts) == 'table' then
        return lasts
    end
    local refusal
    if limiter.kept > 0 then
        local needed = wait and needed_by_waiter(wait, limiter.kept) or limiter.kept
        lasts = math.max(lasts, needed)
        refusal = redis.pcall('pexpire', KEYS[1], string.format('%.0f', lasts))
    end
    if limiter.per_client then
        lasts = client_keys_last(limiter, lasts)
        note_client(math.floor(clock / 1000), lasts)
    end
    for _, key in ipairs({limiter.left, limiter.draws}) do
        if type(refusal) == 'table' then
            return refusal
        end
        if lasts > 0 then
            refusal = redis.pcall('pexpire', key, string.format('%.0f', lasts))
        else
            refusal = redis.pcall('persist', key)
        end
    end
    return type(refusal) == 'table' and refusal or nil
end
