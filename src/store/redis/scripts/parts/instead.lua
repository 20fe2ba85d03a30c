-- A name has one kind of lock. A request for another kind gets an error. These functions find out
-- which kind of key it is, for the text of the error.

-- Pattern of a hash field that is an owner: of holdfast, or a thread of Redisson.
local owner_form = '^%x+%-%x+%-%x+%-%x+%-%x+:%-?%d+$'

-- Lua numbers, and so the counters, are exact up to this value.
local counted_exactly_max = 2 ^ 53

-- Returns the error for a key that is not of the kind `wanted`. The text says what the key is.
--   `refused` is the error of a command; if `refused` is not WRONGTYPE, it is returned unchanged.
--   All code is in one function, because each call of a script creates all its functions again.
local function another_kind(name, wanted, refused)
    if refused and not string.find(refused.err, 'WRONGTYPE', 1, true) then
        return refused
    end
    local few = 100
    local held = string.find(name, '{', 1, true) and name .. ':timeout' or
        '{' .. name .. '}:timeout'
    local count, text = redis.pcall('hlen', name), redis.pcall('get', name)
    local is = 'neither a hash nor a string'
    local number = type(text) == 'string' and
        (text == '0' or string.find(text, '^%-?[1-9]%d*$')) and math.abs(tonumber(text))
    if redis.pcall('exists', held) == 1 and (text == false or number) then
        is = 'a string (a leased semaphore)'
    elseif type(text) == 'string' then
        is = number and number > counted_exactly_max and
            'a string (a number that no counter can have)' or
            number and 'a string (a semaphore or a latch)' or
            "a string (a token lock, or another program's data)"
    elseif type(count) == 'number' then
        local fields = count <= few and redis.pcall('hkeys', name) or {}
        local function has(field)
            return redis.pcall('hexists', name, field) == 1
        end
        local are_owners = true
        for _, field in ipairs(fields) do
            are_owners = are_owners and
                (field == 'mode' or string.find(string.gsub(field, ':write$', ''), owner_form))
        end
        local mode = redis.pcall('hget', name, 'mode') -- an error if HGET is denied
        local is_pair = mode == 'read' or mode == 'write' or type(mode) == 'table' and has('mode')
        local kind = is_pair and are_owners and count > 1 and 'a read-write lock' or
            has('rate') and has('interval') and 'a rate limiter' or
            count == 1 and are_owners and not has('mode') and 'a mutex' or 'no lock'
        is = 'a hash (' .. kind .. ')'
    end
    return redis.error_reply('WRONGTYPE the key is ' .. is .. ', and ' .. wanted ..
        ' was asked for')
end
