-- Leased permits. KEYS[1] is the number of free permits. A sorted set has the held permits; the
-- score of a permit is its expiry time (ms). An expired permit counts as held until a script
-- removes it. Users see permit ids as hexadecimal text. From Redisson 3.17 on, the set has the
-- bytes of the ids instead.

local without_end = 922337203685477 -- Redisson's expiry time of a permit without a lease

-- Returns the ids of `count` permits with consecutive numbers. All ids of a client begin with
-- `prefix`. A number has 48 bits. It is formatted in two halves, because %x does not accept 48 bits
-- on every server.
local function permit_ids(prefix, first, count)
    local ids = {}
    for number = tonumber(first), tonumber(first) + tonumber(count) - 1 do
        local text = string.format('%06x%06x', math.floor(number / 2 ^ 24), number % 2 ^ 24)
        if #prefix < 20 then
            text = string.gsub(text, '%x%x', function(byte)
                return string.char(tonumber(byte, 16))
            end)
        end
        table.insert(ids, prefix .. text)
    end
    return ids
end

-- Returns an error if the held permits have ids of another length than this client's ids; otherwise
-- nil. In a set with ids of both forms, a client could not find its own permits.
local function trouble_with_form(held, length)
    local first = redis.call('zrange', held, 0, 0)[1]
    if not first or #first == length then
        return nil
    end
    local form = #first == 16 and 'redisson=3.17' or #first == 32 and 'redisson=3.16'
    return redis.error_reply('WRONGTYPE the permits here are of another form' ..
        (form and ', which ' .. form .. ' in the URL has (redis::options::redisson)' or ''))
end

local function end_at(held, id, moment)
    return redis.pcall('zadd', held, string.format('%.0f', moment), id)
end
