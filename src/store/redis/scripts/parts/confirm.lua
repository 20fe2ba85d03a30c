-- Confirms a hold that exists already: extends its TTL to the lease, and never shortens it. `left`
-- is the key's PTTL; a key without an end (-1) stays without an end. The TTL is written even if the
-- present TTL is long enough. Otherwise the script would only read. Then a replica could grant the
-- lock from old data, and WAIT would confirm an earlier write.
local function confirm_hold(name, left, lease)
    if left ~= -1 then
        redis.call('pexpire', name, math.max(1, left, tonumber(lease)))
    end
end

