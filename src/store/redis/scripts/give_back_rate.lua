-- Gives back the permits that one request drew, if they still count as drawn.
-- KEYS: name, permits left, this client's permits left, draws, this client's draws.
-- ARGV: member.
-- Returns {1 given back | 0 nothing was drawn or the draw does not count any more, 0}.
--   Redisson has no such script.
-- uses: instead rate

local limiter, trouble = limiter_of(KEYS[1])
if trouble then
    return trouble
end

local function give_back(left, draws)
    local stored = tonumber(redis.call('get', left))
    local drawn_at = redis.call('zscore', draws, ARGV[1])
    if not drawn_at then
        return 0
    end
    redis.call('zrem', draws, ARGV[1])
    if stored then
        local most = limiter and math.max(limiter.rate, stored) or math.huge
        local more = math.min(most, stored + count_in(ARGV[1])) - stored
        local done = redis.pcall('incrby', left, string.format('%.0f', more))
        if type(done) == 'table' then
            redis.call('zadd', draws, drawn_at, ARGV[1])
            redis.call('incrby', left, '0') -- raises the error again and ends the script
        end
    end
    return 1
end

-- The limiter's scope (overall or per client) may have changed since the draw. So try both.
return {math.max(give_back(KEYS[2], KEYS[4]), give_back(KEYS[3], KEYS[5])), 0}
