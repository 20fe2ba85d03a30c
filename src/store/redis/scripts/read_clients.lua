-- Returns the descriptions that clients have stored about themselves.
-- KEYS: the clients' keys. ARGV: none.
-- Returns for each client {host, pid, program, label, since (s)} | {} if it has stored none.
--   Redisson has no such script.

local all = {}
for i, key in ipairs(KEYS) do
    -- An error about one client must not replace the descriptions of the other clients.
    local text = redis.pcall('get', key)
    local readable, card = pcall(cjson.decode, type(text) == 'string' and text or '')
    all[i] = readable and type(card) == 'table' and
        {tostring(card.host), tonumber(card.pid) or 0, tostring(card.program),
         tostring(card.label), tonumber(card.since) or 0} or {}
end
return all
