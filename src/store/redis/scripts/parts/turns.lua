-- Decides which waiter of a fair lock is next. KEYS[2] is the list of waiting owners. KEYS[3] has
-- the time (ms) at which each owner's place expires. A Redisson waiter gets its whole wait when its
-- turn begins. The place of a holdfast client lasts only a short time, and each of its requests
-- renews the place. The fraction of its score stores this time, in units of 2 s (rounded up)
-- divided by 2048. Redisson keeps the fraction, because it adds and subtracts only whole numbers.

local function is_ours(owner)
    return string.sub(owner, 15, 18) == '8fd5'
end

local function score_for(lasts, from_now_on)
    return from_now_on + math.ceil(lasts / 2000) / 2048
end

local function time_of(owner)
    return tonumber(redis.call('zscore', KEYS[3], owner) or 0)
end

-- Maximum number of expired waiters that one script removes. The queue may be long, so a script
-- must not read all of it. It reads two waiters more: the waiter that takes the lock, and the next
-- waiter.
local gone_max = 1000
local read_max = gone_max + 2

local function front_of_queue()
    return redis.call('lrange', KEYS[2], 0, read_max - 1)
end

-- Returns the index of the first waiter in `queue` that is `me` or whose place has not expired. All
-- waiters before it have expired. One script removes at most one Redisson waiter, and never a
-- Redisson waiter whose turn has just begun.
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

-- Returns when the place of `owner`, the first waiter of the queue, expires, and whether the
-- owner's score must change. `left` is the remaining lease of the holder (ms; -1: no end). A
-- Redisson waiter that has just become first gets its whole wait, but not more than its wait after
-- the lock becomes free. Its score may be too great: Redisson adds the waits of all earlier
-- waiters, and subtracts less when these waiters leave. The place of a holdfast owner lasts at most
-- for the time in its last request; the request had added more time for the Redisson waiters before
-- the owner.
local function turn_of(owner, is_new, now, jvm_lasts, left)
    local time = time_of(owner)
    local rightly = time
    if is_ours(owner) then
        local lasts = (time % 1) * 2048 * 2000
        rightly = lasts > 0 and math.min(time, score_for(lasts, now + lasts)) or time
    elseif time > 0 then -- without a score the place has expired
        rightly = is_new and math.max(time, now + jvm_lasts) or time
        local most = now + jvm_lasts + math.max(left, 0)
        rightly = left == -1 and rightly or math.min(rightly, most)
    end
    return rightly, rightly ~= time
end

