-- Releases a lock of any kind although others hold it, and notifies the waiters that may get it
-- next.
-- KEYS: name.
-- ARGV: deadline in µs of this server's clock (0: none), owner that must hold it ('': any owner),
--   publish command, channel of a plain lock, channel of a read-write lock, queue of a fair lock,
--   deadlines of a fair lock, required kind (mode of a read-write lock, 'mutex' or 'token'; '':
--   any), channel of a token lock, a second publish command (optional).
-- Returns {1 taken | 0 free | 2 late | 3 held by others, µs now or 0, owner, ...}, or an error if
--   the key is no lock or a lock of another kind.
-- Redisson: forceUnlock of RedissonLock, -ReadLock, -WriteLock and -FairLock.
-- uses: deadline instead number tell tokens

local fields_max, owners_told_max, queue_told_max = 10000, 100, 100

local now, late = clock_and_whether_late(ARGV[1])
if late then
    return {2, now}
end

local channels, mode = {ARGV[4]}, ARGV[8] or ''
local words = {read = 'a read-write lock', write = 'a read-write lock', mutex = 'a mutex',
               token = 'a token lock'}
local wanted = words[mode] or 'a lock'

-- Deletes the string of a token lock. The string may be any data of another program. So if the
-- caller names neither an owner nor the kind 'token', only a holdfast token is deleted.
local function force_token()
    local holder = redis.pcall('get', KEYS[1])
    if type(holder) == 'table' then
        return another_kind(KEYS[1], wanted, holder)
    end
    local left = redis.call('pttl', KEYS[1])
    if is_counter(KEYS[1], holder, left) or mode ~= '' and mode ~= 'token' then
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

-- A mutex has one field, which is its owner. A read-write lock has the field `mode` and any number
-- of owners, of which one may be a writer.
local answer, has_mode, written, is_lock = {1, now}, false, false, count <= fields_max
for _, field in ipairs(is_lock and redis.call('hkeys', KEYS[1]) or {}) do
    local owner, writes = string.match(field, '^(%x+%-%x+%-%x+%-%x+%-%x+:%d+)(.*)$')
    has_mode, written = has_mode or field == 'mode', written or writes == ':write'
    is_lock = is_lock and (field == 'mode' or owner ~= nil and (writes == '' or writes == ':write'))
    if owner and #answer < 2 + owners_told_max then
        table.insert(answer, field)
    end
end
local value = has_mode and redis.pcall('hget', KEYS[1], 'mode') -- an error if HGET is denied
local is_other_mode = type(value) == 'string' and value ~= 'read' and value ~= 'write'
if not is_lock or is_other_mode or #answer == 2 or not has_mode and (count > 1 or written) then
    return another_kind(KEYS[1], wanted)
end
if mode == 'token' or mode ~= '' and has_mode ~= (mode ~= 'mutex') then
    return another_kind(KEYS[1], wanted)
end
-- The caller may name a writer by its field (with ":write") or by its owner.
if ARGV[2] ~= '' and redis.call('hexists', KEYS[1], ARGV[2]) == 0 and
    redis.call('hexists', KEYS[1], ARGV[2] .. ':write') == 0 then
    answer[1] = 3
    return answer
end
if has_mode and mode ~= '' and (mode == 'write') ~= written then
    answer[1] = 3
    return answer
end

-- In the queue of a fair lock, the first waiter whose place has not expired is next. Notify the
-- expired waiters before it, too: by their own clocks, their places may not have expired. If the
-- user may not publish, or the queue is on another server, notify nobody.
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
