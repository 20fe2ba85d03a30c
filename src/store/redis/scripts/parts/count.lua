-- A counter is a string with an integer. Redisson stores semaphores and latches in this form. A
-- string of any other form belongs to another program and stays unchanged.

local count_max = 2147483647 -- Redisson's numbers have 32 bits

-- Returns the number, or nil if the key does not exist. If the key is not a counter of the wanted
-- kind, returns nil and an error. A leased semaphore without held permits cannot be told from
-- another number.
local function count_of(name, wanted)
    local stored = redis.pcall('get', name)
    if type(stored) == 'table' then
        return nil, another_kind(name, wanted, stored)
    end
    local is_other = stored and not is_whole_number(stored)
    if not is_other and wanted ~= 'a leased semaphore' then
        is_other = redis.pcall('exists', held_permits_of(name)) == 1
    end
    local count = not is_other and tonumber(stored or 0)
    if is_other or math.abs(count) > counted_exactly_max then
        return nil, another_kind(name, wanted)
    end
    return stored and count or nil
end
