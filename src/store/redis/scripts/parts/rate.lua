-- A rate limiter, as Redisson keeps it: a hash that says how many permits may be drawn in which
-- time, how many are left, and the draws that still count, each a member with its time (ms) as the
-- score.
-- KEYS: name, permits left, this client's permits left, draws, this client's draws.

-- The count of every layout that Redisson ever wrote: the last four bytes, the lowest first.
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

-- Redisson that reads a draw, by how long it is; see docs/protocol/rate.md.
local form_of_length = {[8] = '3.13', [20] = '3.16', [13] = '3.17', [21] = '3.17'}

-- Nothing if the first draw that counts is of the same form as this one. JVMs cannot read both, and
-- take what they cannot read for any number.
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
            lasts = interval + 1, -- a draw, for its time was rounded down
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

-- At and before this time (ms, as a text) draws do not count any more.
local function edge_of(limiter, clock)
    return string.format('%.0f', math.floor(clock / 1000) - limiter.lasts)
end

-- How many permits can be drawn now, of which `wanted` are enough to know; and how many draws have
-- gone. All that counts is counted where the number of those left cannot be right: it is missing,
-- or with one permit for each draw that counts there would be more than the rate, or fewer.
local function free_in(limiter, edge, wanted)
    local gone = redis.call('zrangebyscore', limiter.draws, '-inf', edge)
    local stored = tonumber(redis.call('get', limiter.left))
    limiter.stored = stored
    local free = stored and stored + sum_of(gone)
    local all = free and free + redis.call('zcard', limiter.draws) - #gone
    if not free or all > limiter.rate or free < wanted and all < limiter.rate then
        local drawn = sum_of(redis.call('zrangebyscore', limiter.draws, '(' .. edge, '+inf'))
        free = math.max(0, limiter.rate - drawn)
    end
    return free, #gone
end

-- So many are left, where free_in found what was stored. Fewer than there are is no harm, for then
-- the draws are counted: so this comes before a draw, and after draws that go.
local function keep_left(limiter, left)
    if not limiter.stored then -- or it is no number
        redis.call('del', limiter.left)
    end
    redis.call('incrby', limiter.left, string.format('%.0f', left - (limiter.stored or 0)))
end

-- Clients of ours that draw for themselves, each with the moment (ms) at which its draws go.
-- change_rate reads it, since nobody else knows which keys they have.
local clients = string.gsub(KEYS[2], 'value$', 'clients')

-- Says that this client has draws of its own, for `lasts` ms from now on. In pcalls: where that is
-- denied, only a change of the rate may forget draws.
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

-- For how many ms the keys of one client alone are kept from a draw on, since nobody deletes them:
-- as long as the limiter, or for two intervals, and at least as long as a draw counts.
local function client_keys_last(limiter, left_of_limiter)
    local lasts = left_of_limiter > 0 and left_of_limiter or 2 * limiter.interval
    return math.max(lasts, limiter.lasts)
end

-- What is left unused goes; of one client alone it must. Who waits uses it, too, for `wait` ms. It
-- never goes earlier than somebody who waits was promised. Returns what was refused, if anything.
local function keep_state(limiter, clock, wait)
    local waiter_needs = 1000 -- at least, to come when its wait is over
    local lasts = redis.pcall('pttl', KEYS[1])
    if type(lasts) == 'table' then
        return lasts
    end
    local refusal
    if limiter.kept > 0 then
        local needed = wait and wait + math.max(limiter.kept, waiter_needs) or limiter.kept
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
