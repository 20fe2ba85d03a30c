-- Functions for a read-write lock. Each read hold has a timer, which is a key with a TTL: hold k of
-- an owner has timer k. If no timer of an owner exists any more, the owner is dead. An owner of a
-- holdfast client has 1 hold. A thread of a JVM has one hold for each of its entries.

local function timer_of(timers, owner, k)
    return timers .. ':' .. owner .. ':rwlock_timeout:' .. k
end

-- Returns the longest remaining time (ms) of the timers of all readers except `leaving`. The number
--   is <= 0 if no timer exists. The second result is an error if some timers cannot be read on this
--   server.
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

-- Shortens the marks of waiting writers after the last reader has left. Only the longest head start
-- of these writers (the time in which a writer can come first) still keeps new readers back. A mark
-- has the form '<waits until> <read field> <head start>'.
local function cut_to_head_start(marks)
    local longest = 0
    for _, mark in ipairs(redis.call('hvals', marks)) do
        longest = math.max(longest, tonumber(string.match(mark, '%d+$')) or 0)
    end
    if longest > 0 and redis.call('pttl', marks) > longest then
        redis.call('pexpire', marks, longest)
    end
end

-- Returns the mode of a read-write lock. If the key is something else, returns WRONGTYPE as well.
local function mode_of(name)
    local mode = redis.pcall('hget', name, 'mode')
    if type(mode) == 'table' then
        return nil, mode
    end
    local is_other = mode and mode ~= 'read' and mode ~= 'write' or
        not mode and redis.call('exists', name) == 1
    return mode, is_other and redis.error_reply('WRONGTYPE') or nil
end
