-- Returns the holders of a lock and its remaining lease.
-- KEYS: name. ARGV: prefix of timers.
-- Returns {ms left (-1: no end), owner, ...} | {} free | {ms left, {owner}} a string | an error if
--   the key is no lock. RedissonLock: HGET, EXISTS, PTTL.
-- uses: elsewhere instead number shared together

local token_max, fields_max, timers_asked_max = 200, 10000, 200

local count = redis.pcall('hlen', KEYS[1])
if type(count) == 'table' then
    if not string.find(count.err, 'WRONGTYPE', 1, true) then
        return count
    end
    local holder = redis.pcall('get', KEYS[1])
    local left = redis.call('pttl', KEYS[1])
    if type(holder) == 'table' then
        return another_kind(KEYS[1], 'a lock', holder)
    end
    if is_counter(KEYS[1], holder, left) then
        return another_kind(KEYS[1], 'a lock')
    end
    return {left, {string.sub(holder, 1, token_max)}}
end
if count == 0 then
    return {}
end

local fields = count <= fields_max and redis.call('hkeys', KEYS[1]) or {}
local has_mode, written, owners = false, false, 0
for _, field in ipairs(fields) do
    local owner, writes = string.gsub(field, ':write$', '')
    has_mode, written = has_mode or field == 'mode', written or writes > 0
    owners = owners + (string.find(owner, owner_form) and 1 or 0)
end
local others = #fields - owners - (has_mode and 1 or 0)
local value = has_mode and redis.pcall('hget', KEYS[1], 'mode') -- an error if HGET is denied
if type(value) == 'string' and value ~= 'read' and value ~= 'write' or
    owners == 0 or others > 0 or not has_mode and (count > 1 or written) then
    return another_kind(KEYS[1], 'a lock')
end

-- A holdfast reader (UUID version 8, mark d5: see engine.cpp) without a timer has lost its hold.
-- Its field stays while other holds keep the key. Such a reader is left out.
local answer, dead_timers = {redis.call('pttl', KEYS[1])}, {}
for _, field in ipairs(fields) do
    local has_timer = has_mode and count <= timers_asked_max and
        string.sub(field, 15, 18) == '8fd5' and string.sub(field, -6) ~= ':write'
    local timer = has_timer and timer_of(ARGV[1], field, 1)
    if timer and redis.pcall('exists', timer) == 0 then
        table.insert(dead_timers, timer)
    else
        table.insert(answer, field)
    end
end
local trouble = trouble_with_place(KEYS[1], dead_timers)
if trouble then
    return trouble
end
local nobody = has_mode and 2 or 1
return #answer > nobody and answer or {}
