-- Stores the description of a client, so that other programs can show which client holds a lock or
-- waits for it.
-- KEYS: the client's key.
-- ARGV: ms that the key is kept (0: delete it), host, pid, program, label, since (s), index of
--   clients ('': leave the index alone), the client's name in the index, number of all holds,
--   number of all waits, ms for which the waits are valid, number of holds that follow, {name,
--   kind, owner number, age (ms), 1: renewed | 0, ...}, {name, kind, age (ms), ms until the timeout
--   (-1: none), ...}.
-- Returns OK, or the number of deleted keys, or the error text if the index could not be written.
--   Redisson has no such script.
-- uses: deadline index

local first_hold, hold_fields, wait_fields = 13, 5, 4
local ms, index, client = tonumber(ARGV[1]), ARGV[7], ARGV[8]
local count = tonumber(ARGV[12])
local first_wait = first_hold + count * hold_fields
local lists_any = #ARGV >= first_hold
local now = 0
if lists_any then
    now = math.floor(clock_and_whether_late(0) / 1000)
end
local refusal = ''
if index ~= '' then
    refusal = write_index(index, client, now, lists_any and ms or 0)
end
if ms == 0 then
    local deleted = redis.call('del', KEYS[1])
    return refusal == '' and deleted or refusal
end

-- The client sends the age of a hold or a wait. The key stores its start by this server's clock.
local function began(age)
    return now > 0 and now - tonumber(age) or nil
end

local card = {host = ARGV[2], pid = tonumber(ARGV[3]), program = ARGV[4], label = ARGV[5],
              since = tonumber(ARGV[6])}
if count > 0 then
    card.holds_total, card.holds = tonumber(ARGV[9]), {}
end
for at = first_hold, first_wait - 1, hold_fields do
    table.insert(card.holds, {name = ARGV[at], kind = ARGV[at + 1], owner = ARGV[at + 2],
                              since = began(ARGV[at + 3]), renewed = ARGV[at + 4] == '1'})
end
if #ARGV >= first_wait then
    card.waits_total, card.waits = tonumber(ARGV[10]), {}
    card.waits_until = now > 0 and now + tonumber(ARGV[11]) or nil
end
for at = first_wait, #ARGV, wait_fields do
    local left = tonumber(ARGV[at + 3])
    table.insert(card.waits, {name = ARGV[at], kind = ARGV[at + 1], since = began(ARGV[at + 2]),
                              deadline = now > 0 and left >= 0 and now + left or nil})
end
local answer = redis.call('set', KEYS[1], cjson.encode(card), 'px', ARGV[1])
return refusal == '' and answer or refusal
