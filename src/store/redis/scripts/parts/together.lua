-- A key that has not come yet with its slot passes for absent at the new server, and for one that
-- is elsewhere at the old one. Only several keys in one command are refused at both. Returns
-- nothing if all these keys are where `name` is, or in a slot that does not move; else what is to
-- be answered, for nothing must be done yet.
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

