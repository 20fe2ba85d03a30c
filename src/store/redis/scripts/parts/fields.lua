-- Returns whether there are others than owners among a few fields of a hash that has a mode: then
-- it is somebody's data, and no read-write lock.
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
