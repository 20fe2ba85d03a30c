-- Tells who clients are, as they said it themselves.
-- KEYS: the clients' keys. ARGV: none.
-- Returns for each {host, pid, program, label, since (s)} | {} it says nothing. Not of Redisson.

local all = {}
for i, key in ipairs(KEYS) do
    -- In pcalls: who a client is must never spoil the answer about its lock.
    local text = redis.pcall('get', key)
    local readable, card = pcall(cjson.decode, type(text) == 'string' and text or '')
    all[i] = readable and type(card) == 'table' and
        {tostring(card.host), tonumber(card.pid) or 0, tostring(card.program),
         tostring(card.label), tonumber(card.since) or 0} or {}
end
return all
