-- Confirms a hold that the owner already has: extends its TTL to the lease, and never shortens it.
-- `left` is the key's PTTL; a key without an end (-1) stays without an end. Writes the TTL even if
-- it is long enough already. A script that only reads could run on a replica with old data, and
-- WAIT would confirm an earlier write.
local function confirm_hold(name, left, lease)
    if left ~= -1 then
        redis.call('pexpire', name, math.max(1, left, tonumber(lease)))
    end
end

