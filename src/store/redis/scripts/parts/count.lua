-- A counter is a string with a whole number, as Redisson keeps semaphores and latches. Another
-- string is somebody else's, and stays as it is.

local count_max = 2147483647 -- Redisson counts so far

-- Returns the number, or nothing if there is none; and an error for what is no counter of the
-- wanted kind. A leased semaphore none of whose permits is held is a number like others.
local function count_of(name, wanted)
    local stored = redis.pcall('get', name)
    if type(stored) == 'table' then
        return nil, another_kind(name, wanted, stored)
    end
    local is_other = stored and not string.find(stored, '^%-?%d+$')
    if not is_other and wanted ~= 'a leased semaphore' then
        local held = string.find(name, '{', 1, true) and name .. ':timeout' or
            '{' .. name .. '}:timeout'
        is_other = redis.pcall('exists', held) == 1
    end
    if is_other then
        return nil, another_kind(name, wanted)
    end
    local count = tonumber(stored or 0)
    if math.abs(count) > 2 ^ 53 then
        return nil, redis.error_reply('WRONGTYPE it is a number that no counter can have')
    end
    return stored and count or nil
end
