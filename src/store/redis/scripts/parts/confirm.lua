-- A hold that is there already is confirmed: never shortened, and written even if enough is left,
-- since what writes nothing a replica would grant from old data, and a confirmation by replicas
-- would be about an earlier write. `left`: of the key, as PTTL says. Without an end it stays so.
local function confirm_hold(name, left, lease)
    if left ~= -1 then
        redis.call('pexpire', name, math.max(1, left, tonumber(lease)))
    end
end

