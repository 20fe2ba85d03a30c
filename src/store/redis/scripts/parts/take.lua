-- Takes a free lock for its only owner. Returns an error if it cannot have an end: then it is free
-- again, for nothing rolls a script back, and no lock may stay without one.
local function take_hold(name, owner, lease)
    redis.call('hset', name, owner, '1')
    local expires = redis.pcall('pexpire', name, lease)
    if expires ~= 1 then
        redis.call('del', name)
        return expires
    end
end

