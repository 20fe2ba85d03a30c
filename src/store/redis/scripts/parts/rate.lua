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
        return nil, stored
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
        return nil, redis.error_reply('WRONGTYPE the key is a hash, and no rate limiter')
    end
end

local function not_set()
    return redis.error_reply('ERR the rate limiter is not set')
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
-- gone. Where the number of those left cannot be right (it is missing, or there would be more than
-- the rate; or fewer than that, with what was drawn), all that counts is counted.
local function free_in(limiter, edge, wanted)
    local gone = redis.call('zrangebyscore', limiter.draws, '-inf', edge)
    local stored = tonumber(redis.call('get', limiter.left))
    limiter.stored = stored
    local free = stored and stored + sum_of(gone)
    if not free or free > limiter.rate or
        free < wanted and free + redis.call('zcard', limiter.draws) - #gone < limiter.rate then
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

-- What is left unused goes; of one client alone it must, for nobody deletes it. Returns what was
-- refused, if anything was.
local function keep_state(limiter)
    local lasts, refusal = limiter.kept, nil
    if limiter.kept == 0 then
        lasts = redis.pcall('pttl', KEYS[1])
    end
    if type(lasts) == 'table' then
        return lasts
    end
    if limiter.kept > 0 then
        refusal = redis.pcall('pexpire', KEYS[1], lasts)
    elseif lasts < 0 and limiter.per_client then
        lasts = 2 * limiter.interval
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
