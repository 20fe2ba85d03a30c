-- Returns whether a hash with the field `mode` is not a read-write lock: it also has fields that
-- are not owners, or it has no owner. Examines only hashes of at most 100 fields.
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
