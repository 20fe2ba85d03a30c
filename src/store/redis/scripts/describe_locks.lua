-- Describes keys that may be locks, with all data of this server about them.
-- KEYS: names.
-- ARGV: eight lists in a row, each with an entry for each name: channel, token counter; fair lock:
--   queue, deadlines; read-write lock: channel, marks of waiting writers, prefix of timers; token
--   lock: channel.
-- Returns for each name {type, ms left (-1: no end), listeners (-1: denied), last token (0: none,
--   or denied), number of fields, {field, value, ms left of its own timer (-1: no end, -2: no
--   timer), ...}, number of waiters (-1: denied), {waiter, ms that its place lasts, its listeners,
--   ...}}. -1 means unknown.
-- If a hash has many fields, they are counted and only `mode` is returned. A string is returned as
--   a field with the count 1; a long string is cut.
-- RedissonLock: TYPE, PTTL, HGETALL.
-- uses: deadline listeners shared

local fields_told_max, timers_asked_max = 100, math.max(1, math.floor(16 / #KEYS))
local token_told_max = 100
local reader_form = '^%x+%-%x+%-%x+%-%x+%-%x+:%d+$'
local waiters_told_max = math.max(10, math.floor(100 / #KEYS))
local now = math.floor(clock_and_whether_late(0) / 1000) -- 0 if TIME is denied

local function queue_of(queue, deadlines, channel)
    local listed = redis.pcall('lrange', queue, 0, waiters_told_max - 1)
    if listed.err then
        return -1, {}, 0
    end
    local length = redis.pcall('llen', queue)
    local are_all = #listed < waiters_told_max
    local waiting = type(length) == 'number' and length or are_all and #listed or -1
    local channels, told, listeners = {}, {}, 0
    for i, owner in ipairs(listed) do
        channels[i] = channel .. ':' .. owner
    end
    local counts = listeners_of(channels, true) or {}
    for i = 1, #channels do
        local time = redis.pcall('zscore', deadlines, listed[i])
        local is_known = now > 0 and type(time) == 'string'
        listeners = listeners + (counts[i] or 0)
        table.insert(told, listed[i])
        table.insert(told, is_known and math.max(0, math.floor(tonumber(time)) - now) or -1)
        table.insert(told, counts[i] or -1)
    end
    return waiting, told, listeners
end

local function writers_in(marks)
    local listed = redis.pcall('hgetall', marks)
    if listed.err then
        return -1, {}
    end
    local count, told, ends = 0, {}, redis.call('pttl', marks)
    for i = 1, #listed, 2 do
        local waits_until = tonumber(string.match(listed[i + 1], '^%d+')) or now
        local left = math.min(now > 0 and waits_until - now or ends, ends)
        if left > 0 then
            count = count + 1
            if count <= waiters_told_max then
                table.insert(told, listed[i])
                table.insert(told, left)
                table.insert(told, -1)
            end
        end
    end
    return count, told
end

local function timer_left(timers, owner, holds)
    local longest = -2
    for k = math.min(holds, timers_asked_max), 1, -1 do
        local left = redis.pcall('pttl', timer_of(timers, owner, k))
        if left == -1 or type(left) == 'table' then
            return -1 -- the key has no end, or PTTL is denied
        end
        longest = math.max(longest, left)
    end
    return longest
end

local all = {}
for i, name in ipairs(KEYS) do
    local function its(which)
        return ARGV[(which - 1) * #KEYS + i]
    end
    local kind = redis.call('type', name).ok
    local told = {kind, redis.call('pttl', name), -1, 0, 0, {}, 0, {}}
    local mode = kind == 'hash' and redis.call('hget', name, 'mode')
    local counts = listeners_of({its(mode and 5 or kind == 'string' and 8 or 1)}, true)
    told[3] = counts and counts[1] or -1
    if mode then
        told[7], told[8] = writers_in(its(6))
    elseif kind == 'hash' or kind == 'none' then
        local listeners
        told[7], told[8], listeners = queue_of(its(3), its(4), its(1))
        told[3] = counts and told[3] + listeners or -1
    end
    if kind == 'string' then
        told[5], told[6] = 1, {redis.call('getrange', name, 0, token_told_max - 1), '1', -2}
    end
    if kind == 'hash' then
        local token = redis.pcall('get', its(2))
        told[4] = type(token) == 'string' and tonumber(token:match('^%d+$')) or 0
        told[5] = redis.call('hlen', name)
        local words = told[5] <= fields_told_max and redis.call('hgetall', name) or
            mode and {'mode', mode} or {}
        for at = 1, #words, 2 do
            local reads = (mode == 'read' or mode == 'write') and
                string.find(words[at], reader_form)
            local holds = reads and tonumber(words[at + 1]) or 0
            table.insert(told[6], words[at])
            table.insert(told[6], words[at + 1])
            table.insert(told[6], timer_left(its(7), words[at], holds))
        end
    end
    all[i] = told
end
return all
