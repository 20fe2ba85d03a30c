-- Gives back what a request drew, if it did.
-- KEYS: name, permits left, this client's permits left, draws, this client's draws. ARGV: member.
-- Returns {1 given back | 0 nothing was drawn, or it counts no more, 0}. Not of Redisson
-- uses: rate

local limiter, trouble = limiter_of(KEYS[1])
if trouble then
    return trouble
end

local function give_back(left, draws)
    local stored = tonumber(redis.call('get', left))
    if redis.call('zrem', draws, ARGV[1]) == 0 then
        return 0
    end
    if stored then
        local most = limiter and math.max(limiter.rate, stored) or math.huge
        local more = math.min(most, stored + count_in(ARGV[1])) - stored
        redis.call('incrby', left, string.format('%.0f', more))
    end
    return 1
end

-- What it is now, it need not have been then.
return {math.max(give_back(KEYS[2], KEYS[4]), give_back(KEYS[3], KEYS[5])), 0}
