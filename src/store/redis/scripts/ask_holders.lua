-- Stores a wish, which asks the present holders of a lock to release it soon. Notifies the holders
-- that subscribe to wishes. Replaces an earlier wish for the same lock.
-- KEYS: name, key of the wish. ARGV: reason, process that asks, ms to keep the wish, publish
--   command, channel, a second publish command (optional).
-- Returns {owner, ...} (at most 100) | {} free | an error if the key is no lock.
-- Redisson has no such script.
-- uses: instead tell tokens

local fields_max, owners_told_max = 10000, 100

local count = redis.pcall('hlen', KEYS[1])
local fields = {}
if type(count) == 'table' then
    if not string.find(count.err, 'WRONGTYPE', 1, true) then
        return count
    end
    local holder = redis.pcall('get', KEYS[1])
    if type(holder) == 'table' or not is_token_of_ours(holder) then
        return another_kind(KEYS[1], 'a lock of holdfast', type(holder) == 'table' and holder)
    end
    fields = {holder}
elseif count > 0 and count <= fields_max then
    fields = redis.call('hkeys', KEYS[1])
end

-- A mutex has one field, its owner. A read-write lock also has the field `mode`. There, the field
-- of a writer is the owner with the suffix ":write".
local told, owners, mode = {}, {}, nil
for _, field in ipairs(fields) do
    local owner = string.gsub(field, ':write$', '')
    if string.find(owner, owner_form) then
        table.insert(owners, owner)
        if #told < owners_told_max then
            table.insert(told, field)
        end
    elseif field == 'mode' then
        mode = redis.call('hget', KEYS[1], 'mode')
    else
        return another_kind(KEYS[1], 'a lock')
    end
end
if count == 0 then
    return {}
end
local is_mutex = not mode and #owners == 1 and told[1] == owners[1]
local is_read_write_lock = (mode == 'read' or mode == 'write') and #owners > 0
if not is_mutex and not is_read_write_lock then
    return another_kind(KEYS[1], 'a lock')
end

redis.call('del', KEYS[2])
redis.call('hset', KEYS[2], 'reason', ARGV[1])
redis.call('hset', KEYS[2], 'from', ARGV[2])
for _, owner in ipairs(owners) do
    redis.call('hset', KEYS[2], owner, '1')
end
redis.call('pexpire', KEYS[2], ARGV[3])
tell(ARGV[5], '1', ARGV[4], ARGV[6])
return told
