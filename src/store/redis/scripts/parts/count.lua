-- A counter is a string with a whole number, as Redisson keeps semaphores and latches. Another
-- string is somebody else's, and stays as it is.

local count_max = 2147483647 -- Redisson counts so far

-- Nothing if there is none; and an error for what is no counter.
local function count_of(name)
    local stored = redis.pcall('get', name)
    if type(stored) == 'table' then
        return nil, stored
    end
    if stored and not string.find(stored, '^%-?%d+$') then
        return nil, redis.error_reply('WRONGTYPE it is a string, and no number')
    end
    local count = tonumber(stored or 0)
    if math.abs(count) > 2 ^ 53 then
        return nil, redis.error_reply('WRONGTYPE it is a number that no counter can have')
    end
    return stored and count or nil
end
