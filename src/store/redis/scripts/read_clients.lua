-- Returns the descriptions that clients have stored about themselves.
-- KEYS: the clients' keys.
-- ARGV: 1: with the holds and waits of the clients | 0: without, name of the lock of which the
--   holds and waits are wanted ('': all locks).
-- Returns for each client {host, pid, program, label, since (s), {hold, kind, owner number, since
--   (ms), age (ms), ...}, {wait, kind, since (ms), age (ms), ms until the timeout (-1: none), ...},
--   1: the client has listed all its holds and waits | 0} | {} if it has stored none, or lists
--   nothing about the wanted lock. Both times of an entry are -1 if they are not known. If the
--   clients have stored much, the script returns only the descriptions of the first clients, at
--   least one. Redisson has no such script.
-- uses: deadline

local entries_max, name_size_max, text_size_max, word_size_max = 100, 512, 256, 32
local entries_at_once, bytes_at_once = 1000, 200000
local description_size_max = 200000 -- a client writes less
local with_entries = ARGV[1] == '1'
local wanted = ARGV[2]
local now = 0
if with_entries then
    now = math.floor(clock_and_whether_late(0) / 1000)
end

-- Another program may have written the description, so each text is cut.
local function text_of(value, size_max)
    local is_text = type(value) == 'string' or type(value) == 'number'
    return is_text and string.sub(value, 1, size_max or text_size_max) or ''
end

local function word_of(value)
    return text_of(value, word_size_max)
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
            #entry.name <= name_size_max and (wanted == '' or entry.name == wanted) then
            add(told, entry)
        end
    end
    return told
end

local function add_hold(told, hold)
    local since, age = times_of(hold)
    local at = #told
    told[at + 1], told[at + 2], told[at + 3] = hold.name, word_of(hold.kind), word_of(hold.owner)
    told[at + 4], told[at + 5] = since, age
end

local function add_wait(told, wait)
    local since, age = times_of(wait)
    local deadline = tonumber(wait.deadline)
    local left = deadline and now > 0 and math.floor(deadline - now) or -1
    if left < 0 and deadline and now > 0 then
        return -- the client has not removed the wait after its timeout, so the client is dead
    end
    local at = #told
    told[at + 1], told[at + 2], told[at + 3] = wait.name, word_of(wait.kind), since
    told[at + 4], told[at + 5] = age, left
end

-- A dead client cannot remove its waits.
local function has_valid_waits(card)
    local waits_until = tonumber(card.waits_until)
    return now == 0 or not waits_until or now <= waits_until
end

local function count_of(list)
    return type(list) == 'table' and #list or 0
end

local function has_all(list, total)
    return count_of(list) <= entries_max and (tonumber(total) or 0) <= count_of(list)
end

-- A description without the wanted name is not decoded, because decoding takes about ten times as
-- long as searching. A name with a character that JSON may write in several ways is not searched.
local is_plain = wanted ~= '' and not string.find(wanted, '[%c"\\/\127-\255]')
local wanted_in_json = is_plain and '"' .. wanted .. '"'
local all, entries, bytes = {}, 0, 0
for i, key in ipairs(KEYS) do
    -- An error about one client must not hide the descriptions of the other clients.
    local text = redis.pcall('get', key)
    text = type(text) == 'string' and text or ''
    local readable, card = false, nil
    if #text > description_size_max then
        readable, card = true, {holds_total = 1} -- the reader learns that something is missing
        bytes = bytes + #text / 10
    elseif not wanted_in_json or string.find(text, wanted_in_json, 1, true) then
        readable, card = pcall(cjson.decode, text)
        bytes = bytes + #text
    else
        bytes = bytes + #text / 10
    end
    if readable and type(card) == 'table' then
        entries = entries + count_of(card.holds) + count_of(card.waits)
        local is_complete = has_all(card.holds, card.holds_total) and
            has_all(card.waits, card.waits_total)
        all[i] = {text_of(card.host), tonumber(card.pid) or 0, text_of(card.program),
                  text_of(card.label), tonumber(card.since) or 0,
                  entries_in(card.holds, add_hold),
                  entries_in(has_valid_waits(card) and card.waits, add_wait),
                  is_complete and 1 or 0}
    else
        all[i] = {}
    end
    if entries >= entries_at_once or bytes >= bytes_at_once then
        break
    end
end
return all
