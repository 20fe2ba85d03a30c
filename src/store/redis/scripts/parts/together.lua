-- Returns nil if all these keys are on the same server as `name`, or in a slot that is not being
--   migrated. Otherwise returns the error for the script to return before it changes anything.
--   While a slot is being migrated, a key on the other server looks absent to a command with that
--   key alone. Both servers refuse only a command with several keys.
local function trouble_with_place(name, keys)
    local at_once = 100
    for i = 1, #keys, at_once do
        local there = redis.pcall('exists', name, unpack(keys, i, math.min(#keys, i + at_once - 1)))
        if type(there) == 'table' then
            return is_elsewhere(there.err) and
                redis.error_reply('TRYAGAIN what belongs to this lock is on its way elsewhere') or
                there
        end
    end
end

