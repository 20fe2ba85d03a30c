-- Returns whether a hash that has a `mode` also has fields that are not owners, or has no owner.
--   Such a hash is other data and not a read-write lock. Only hashes of at most 100 fields are
--   examined.
local function has_foreign_field(name)
    local few, count = 100, redis.call('hlen', name)
    for _, field in ipairs(count <= few and redis.call('hkeys', name) or {}) do
        local owner = string.gsub(field, ':write$', '')
        if field ~= 'mode' and not string.find(owner, owner_form) then
            return true
        end
    end
    return count == 1
end
