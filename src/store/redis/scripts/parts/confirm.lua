-- Confirms a hold that exists already: extends its TTL to the lease, and never shortens it. `left`
-- is the key's PTTL; a key without an end (-1) keeps none. The TTL is written even if enough is
-- left. A script that only reads would be granted by a replica from old data, and WAIT would
-- confirm an earlier write.
local function confirm_hold(name, left, lease)
    if left ~= -1 then
        redis.call('pexpire', name, math.max(1, left, tonumber(lease)))
    end
end

