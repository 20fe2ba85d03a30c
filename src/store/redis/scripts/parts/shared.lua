-- Functions for a read-write lock. Each read hold has a timer, which is a key with a TTL. An owner
-- whose timers have all expired is dead. An owner of holdfast has one hold. A thread of Redisson
-- has a hold, and so a timer, for each time that it has entered the lock: hold k has timer k.

local function timer_of(timers, owner, k)
    return timers .. ':' .. owner .. ':rwlock_timeout:' .. k
end

-- Returns the longest remaining time (ms) of the timers of all readers except `leaving`. The result
-- is <= 0 if no timer exists. The second result is an error if some timers cannot be read on this
-- server.
local function longest_timer(name, timers, leaving)
    local fields, all = redis.call('hgetall', name), {}
    for i = 1, #fields, 2 do
        local reads = string.sub(fields[i], -6) ~= ':write' and fields[i] ~= leaving
        for k = reads and tonumber(fields[i + 1]) or 0, 1, -1 do
            table.insert(all, timer_of(timers, fields[i], k))
        end
    end
    local longest, trouble = 0, trouble_with_place(name, all)
    for _, timer in ipairs(trouble and {} or all) do
        longest = math.max(longest, redis.call('pttl', timer))
    end
    return longest, trouble
end

-- Shortens the TTL of the waiting writers' marks after the last reader has left. The marks then
-- keep new readers away only for the longest head start of these writers. A mark has the form
-- '<waits until> <read field> <head start>'.
local function cut_to_head_start(marks)
    local longest = 0
    for _, mark in ipairs(redis.call('hvals', marks)) do
        longest = math.max(longest, tonumber(string.match(mark, '%d+$')) or 0)
    end
    if longest > 0 and redis.call('pttl', marks) > longest then
        redis.call('pexpire', marks, longest)
    end
end

-- Returns the mode of a read-write lock. If the key is something else, also returns an error.
local function mode_of(name)
    local mode = redis.pcall('hget', name, 'mode')
    if type(mode) == 'table' then
        return nil, mode
    end
    local is_other = mode and mode ~= 'read' and mode ~= 'write' or
        not mode and redis.call('exists', name) == 1
    return mode, is_other and redis.error_reply('WRONGTYPE') or nil
end
