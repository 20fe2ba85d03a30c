-- Takes a free lock for its only owner. Returns an error if the lease cannot be set. The lock is
-- then free again: Redis does not roll a script back, and no lock may stay without an end.
local function take_hold(name, owner, lease)
    redis.call('hset', name, owner, '1')
    local expires = redis.pcall('pexpire', name, lease)
    if expires ~= 1 then
        redis.call('del', name)
        return expires
    end
end

