-- Returns nil if all these keys are on the server of `name`. Otherwise, while a slot is being
-- migrated, returns the error that the script must return before it changes anything. A server that
-- does not have a key treats it as missing, and reports an error only for a command with several
-- keys. So this function asks for `name` and the keys together.
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

