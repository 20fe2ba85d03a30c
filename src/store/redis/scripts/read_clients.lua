-- Returns the descriptions that clients have stored about themselves.
-- KEYS: the clients' keys. ARGV: 1: with the holds and waits of the clients | 0: without.
-- Returns for each client {host, pid, program, label, since (s), {hold, kind, owner number, since
--   (ms), age (ms), ...}, {wait, kind, since (ms), age (ms), ms until the timeout (-1: none), ...}}
--   | {} if it has stored none. Both times of an entry are -1 if they are not known.
--   Redisson has no such script.
-- uses: deadline

local entries_max, name_size_max = 100, 512
local with_entries = ARGV[1] == '1'
local now = 0
if with_entries then
    now = math.floor(clock_and_whether_late(0) / 1000)
end

-- A time before 2020 was not written by a client.
local earliest = 1577836800000

local function times_of(entry)
    local since = tonumber(entry.since)
    if not since or now == 0 or not (since >= earliest) then
        return -1, -1
    end
    since = math.min(since, now)
    return math.floor(since), math.floor(now - since)
end

-- Calls `add` for each valid entry of a list. Skips other data, because another program may have
-- written the list.
local function entries_in(list, add)
    local told = {}
    for i = 1, with_entries and type(list) == 'table' and math.min(#list, entries_max) or 0 do
        local entry = list[i]
        if type(entry) == 'table' and type(entry.name) == 'string' and
            #entry.name <= name_size_max then
            add(told, entry)
        end
    end
    return told
end

local function add_hold(told, hold)
    local since, age = times_of(hold)
    for _, word in ipairs({hold.name, tostring(hold.kind), tostring(hold.owner), since, age}) do
        table.insert(told, word)
    end
end

local function add_wait(told, wait)
    local since, age = times_of(wait)
    local deadline = tonumber(wait.deadline)
    local left = deadline and now > 0 and math.max(0, math.floor(deadline - now)) or -1
    for _, word in ipairs({wait.name, tostring(wait.kind), since, age, left}) do
        table.insert(told, word)
    end
end

local all = {}
for i, key in ipairs(KEYS) do
    -- An error about one client must not hide the descriptions of the other clients.
    local text = redis.pcall('get', key)
    local readable, card = pcall(cjson.decode, type(text) == 'string' and text or '')
    all[i] = readable and type(card) == 'table' and
        {tostring(card.host), tonumber(card.pid) or 0, tostring(card.program),
         tostring(card.label), tonumber(card.since) or 0, entries_in(card.holds, add_hold),
         entries_in(card.waits, add_wait)} or {}
end
return all
