-- Takes a lock of any kind away from whoever holds it, and wakes who may have it next.
-- KEYS: name. ARGV: deadline in µs of this server's clock (0: none), whom it is to be taken from
--   ('': anybody), publish command, channels of a plain and of a read-write lock, where a fair one
--   has its queue and its deadlines, mode that a read-write lock must have, or 'mutex' or 'token'
--   (''; any lock), channel of a token lock, perhaps another publish command.
-- Returns {1 taken | 0 free | 2 late | 3 it is others', µs now or 0, owner, ...}; an error if the
--   key is no lock, or not of that kind. forceUnlock of RedissonLock, -ReadLock, -WriteLock and
--   -FairLock
-- uses: deadline instead tell tokens

local fields_max, owners_told_max, queue_told_max = 10000, 100, 100

local now, late = clock_and_whether_late(ARGV[1])
if late then
    return {2, now}
end

local channels, mode = {ARGV[4]}, ARGV[8] or ''
local words = {read = 'a read-write lock', write = 'a read-write lock', mutex = 'a mutex',
               token = 'a token lock'}
local wanted = words[mode] or 'a lock'

-- A string with an owner's token: what others write cannot be told from their data. Whoever means
-- no owner, and does not say that it is a lock, must not end what is none.
local function force_token()
    local holder = redis.pcall('get', KEYS[1])
    if type(holder) == 'table' then
        return another_kind(KEYS[1], wanted, holder)
    end
    -- A number with an end may be another program's token, if it has no held permits.
    local held = string.find(KEYS[1], '{', 1, true) and KEYS[1] .. ':timeout' or
        '{' .. KEYS[1] .. '}:timeout'
    local is_counter = string.find(holder, '^%-?%d+$') and
        (redis.call('pttl', KEYS[1]) == -1 or redis.pcall('exists', held) == 1)
    if is_counter or mode ~= '' and mode ~= 'token' then
        return another_kind(KEYS[1], wanted)
    end
    if ARGV[2] == '' and mode == '' and not is_token_of_ours(holder) then
        return redis.error_reply('WRONGTYPE it is a string, and perhaps no lock: name its owner')
    end
    local is_meant = ARGV[2] == '' or ARGV[2] == holder
    if is_meant then
        redis.call('del', KEYS[1])
        tell(ARGV[9], '0', ARGV[3], ARGV[10])
    end
    return {is_meant and 1 or 3, now, holder}
end

local count = redis.pcall('hlen', KEYS[1])
if type(count) == 'table' then
    return string.find(count.err, 'WRONGTYPE', 1, true) and force_token() or count
end
if count == 0 then
    return {0, now}
end

-- One owner; or any number beside `mode`, and a writer among them.
local answer, has_mode, written, is_lock = {1, now}, false, false, count <= fields_max
for _, field in ipairs(is_lock and redis.call('hkeys', KEYS[1]) or {}) do
    local owner, writes = string.match(field, '^(%x+%-%x+%-%x+%-%x+%-%x+:%d+)(.*)$')
    has_mode, written = has_mode or field == 'mode', written or writes == ':write'
    is_lock = is_lock and (field == 'mode' or owner ~= nil and (writes == '' or writes == ':write'))
    if owner and #answer < 2 + owners_told_max then
        table.insert(answer, field)
    end
end
local value = has_mode and redis.pcall('hget', KEYS[1], 'mode') -- which may be denied
local is_other_mode = type(value) == 'string' and value ~= 'read' and value ~= 'write'
if not is_lock or is_other_mode or #answer == 2 or not has_mode and (count > 1 or written) then
    return another_kind(KEYS[1], wanted)
end
if mode == 'token' or mode ~= '' and has_mode ~= (mode ~= 'mutex') then
    return another_kind(KEYS[1], wanted)
end
if ARGV[2] ~= '' and redis.call('hexists', KEYS[1], ARGV[2]) == 0 then
    answer[1] = 3
    return answer
end
if has_mode and mode ~= '' and (mode == 'write') ~= written then
    answer[1] = 3
    return answer
end

-- Of a fair lock's waiters the first whose time is not over is next; those before it are told,
-- too, since their clocks decide. In pcalls: what is denied, or elsewhere, wakes nobody.
local message = written and '1' or '0'
channels[1] = has_mode and ARGV[5] or ARGV[4]
local queue = has_mode and {} or redis.pcall('lrange', ARGV[6], 0, queue_told_max - 1)
for _, waiter in ipairs(queue.err and {} or queue) do
    table.insert(channels, ARGV[4] .. ':' .. waiter)
    local waits_until = redis.pcall('zscore', ARGV[7], waiter)
    if waits_until and (waits_until.err or tonumber(waits_until) > now / 1000) then
        break
    end
end

redis.call('del', KEYS[1])
for _, channel in ipairs(channels) do
    tell(channel, message, ARGV[3], ARGV[10])
end
return answer
