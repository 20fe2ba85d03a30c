-- Permits that are leased: KEYS[1] says how many are free, and a sorted set has those that are
-- held, each with the moment (ms) at which it ends. One that is over counts as held until somebody
-- takes it out. Users see ids as hexadecimal text; from Redisson 3.17 on the set has their bytes.

local without_end = 922337203685477 -- Redisson's: a permit that nobody gives back stays for ever

-- Those of so many numbers in a row, behind what all of a client begin with. In two halves, since a
-- number of 48 bits is more than %x takes everywhere.
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

-- What has ids of one form cannot be kept with ids of the other: nobody would find its own. Nothing
-- if they are as long as these.
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
