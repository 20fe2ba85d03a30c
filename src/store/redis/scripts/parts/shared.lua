-- Of a read-write lock. Every read hold k of an owner has a timer key; who has none left is dead. A
-- client of ours has 1 hold under each owner number, a JVM as many as it has entered.

local function timer_of(timers, owner, k)
    return timers .. ':' .. owner .. ':rwlock_timeout:' .. k
end

-- How long the longest of the timers of all readers but `leaving` lasts (<= 0: none does), or a
-- read lease at all; or what keeps that from being known.
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

-- Nobody reads any more: writers that wait have their head start before new readers, and no more.
-- Its length stands with each mark, behind the moment until which it waits and whom it stands on.
local function cut_to_head_start(marks)
    local longest = 0
    for _, mark in ipairs(redis.call('hvals', marks)) do
        longest = math.max(longest, tonumber(string.match(mark, '%d+$')) or 0)
    end
    if longest > 0 and redis.call('pttl', marks) > longest then
        redis.call('pexpire', marks, longest)
    end
end

-- Returns the mode of a read-write lock; or nothing, and WRONGTYPE if there is something else.
local function mode_of(name)
    local mode = redis.pcall('hget', name, 'mode')
    if type(mode) == 'table' then
        return nil, mode
    end
    local is_other = mode and mode ~= 'read' and mode ~= 'write' or
        not mode and redis.call('exists', name) == 1
    return mode, is_other and redis.error_reply('WRONGTYPE') or nil
end
