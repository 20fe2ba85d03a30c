-- Returns the PTTL of a mutex (-2: the mutex is free), and its holder. If the key is not a mutex,
-- the holder is nil, and the third result is the error.

local function look_at_mutex(name)
    local left = redis.call('pttl', name)
    if left == -2 then
        return left
    end
    -- A mutex is a hash with a single field, which is its owner.
    local fields = redis.pcall('hlen', name)
    local holder = fields == 1 and redis.call('hkeys', name)[1]
    if holder and string.find(holder, owner_form) then
        return left, holder
    end
    return left, nil, another_kind(name, 'a mutex', type(fields) == 'table' and fields)
end
