-- Returns nil if all these keys are on the same server as `name`, or in a slot that does not move.
-- Otherwise returns the error to answer with, before anything is changed. While a slot moves, a key
-- that is on the other server looks absent to a command with that key alone. Only a command with
-- several keys is refused, on both servers.
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

