-- Takes a free lock for a single owner. Returns an error if the lease cannot be set. In that case
-- the lock is released again, because Redis does not roll a script back, and a lock must not stay
-- without an end.
local function take_hold(name, owner, lease)
    redis.call('hset', name, owner, '1')
    local expires = redis.pcall('pexpire', name, lease)
    if expires ~= 1 then
        redis.call('del', name)
        return expires
    end
end

