-- Returns whether a hash that has a `mode` also has fields that are not owners. Such a hash is
--   other data and not a read-write lock. Only hashes of at most 16 fields are examined.
local function has_foreign_field(name)
    local few = 16
    for _, field in ipairs(redis.call('hlen', name) <= few and redis.call('hkeys', name) or {}) do
        local owner = string.gsub(field, ':write$', '')
        if field ~= 'mode' and not string.find(owner, owner_form) then
            return true
        end
    end
    return false
end
