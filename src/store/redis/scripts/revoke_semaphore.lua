-- Gives back the permits that a request took, if it took any. If a copy of the request arrives
-- later, it takes no permits. If the semaphore was deleted in the meantime, the script does not
-- create it again.
-- KEYS: name, requests of this client.
-- ARGV: permits, slot, number, ms for which this is remembered, channel, publish command, a second
--   publish command (optional).
-- Returns {1 given back | 0 nothing was taken, receivers (-1: message denied)}. Redisson has no
--   such script.
-- uses: request instead number count tell

local before, overtaken = answer_before(KEYS[2], ARGV[2], ARGV[3], ARGV[4])
if overtaken then
    return {0, 0}
end
local was_taken = before and before[1] == 1
local there, trouble
if was_taken then
    there, trouble = count_of(KEYS[1], 'a semaphore')
end
if trouble and not string.find(trouble.err, 'WRONGTYPE', 1, true) then
    return trouble
end
write_request_although_full(KEYS[2], ARGV[4])
remember_answer(KEYS[2], ARGV[2], ARGV[3], 0, 0, ARGV[4])
if not there then
    return {0, 0}
end
local back = math.min(there + tonumber(ARGV[1]), math.max(there, count_max))
carry_out(KEYS[2], ARGV[2], nil, 'incrby', KEYS[1], string.format('%.0f', back - there))
return {1, back > 0 and tell(ARGV[5], string.format('%.0f', back), ARGV[6], ARGV[7]) or 0}
