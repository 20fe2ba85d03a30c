-- Takes a free lock for a single owner. If the lease cannot be set, deletes the lock again and
-- returns the error: Redis does not roll a script back, and the lock would have no end.
local function take_hold(name, owner, lease)
    redis.call('hset', name, owner, '1')
    local expires = redis.pcall('pexpire', name, lease)
    if expires ~= 1 then
        redis.call('del', name)
        return expires
    end
end

