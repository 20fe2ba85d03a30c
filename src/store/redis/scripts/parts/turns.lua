-- Whose turn it is at a fair lock. KEYS[2] is the list of owners that wait, KEYS[3] says until
-- when (ms) each counts. A JVM is given its whole wait when its turn begins. A place of ours is
-- short and written anew by each look; what its score has behind the point says how short (in
-- 2 s / 2048): JVMs only add to scores whole numbers and take them away.

local function is_ours(owner)
    return string.sub(owner, 15, 18) == '8fd5'
end

local function score_for(lasts, from_now_on)
    return from_now_on + math.ceil(lasts / 2000) / 2048
end

local function time_of(owner)
    return tonumber(redis.call('zscore', KEYS[3], owner) or 0)
end

-- One script takes away so many that have gone, and reads two more, who takes the lock and who is
-- next then: the whole queue may be long, and whoever waits in it looks.
local gone_max = 1000
local read_max = gone_max + 2

local function front_of_queue()
    return redis.call('lrange', KEYS[2], 0, read_max - 1)
end

-- The first in `queue` that counts, or is `me`; those before it have gone. One script takes away
-- one JVM at most, and none whose turn had not begun.
local function first_in(queue, me, now)
    for i, owner in ipairs(queue) do
        local time = time_of(owner)
        local begins_now = i > 1 and time > 0 and not is_ours(owner)
        if owner == me or time > now or begins_now or i > gone_max then
            return i
        end
    end
    return #queue + 1
end

-- Until when `owner` counts that is first, of a lock that is held for `left` more (ms; -1: without
-- an end): a JVM gets its whole wait if it was not first before, and it has no more from when the
-- lock is free: Redisson adds to its wait what all before it had, of ours too, and takes away less.
-- Of ours no more than a look gives it is left, which had more while JVMs were before it.
local function turn_of(owner, is_new, now, jvm_lasts, left)
    local time = time_of(owner)
    local rightly = time
    if is_ours(owner) then
        local lasts = (time % 1) * 2048 * 2000
        rightly = lasts > 0 and math.min(time, score_for(lasts, now + lasts)) or time
    elseif time > 0 then -- without a time it is stale
        rightly = is_new and math.max(time, now + jvm_lasts) or time
        local most = now + jvm_lasts + math.max(left, 0)
        rightly = left == -1 and rightly or math.min(rightly, most)
    end
    return rightly, rightly ~= time
end

