-- Extends each hold whose permits are all still held. The script never shortens or creates a hold.
-- KEYS: the sets of held permits.
-- ARGV: lease ms (0: extend none), prefix of the ids, then for each set '<first number> <how
--   many>'.
-- Returns for each set 3 + the ms after which the first of these permits would have expired | 0
--   some permit is not held any more.
-- Redisson: updateLeaseTime of RedissonPermitExpirableSemaphore.
-- uses: deadline elsewhere full names permits

local clock = clock_and_whether_late('0')
if clock == 0 then
    return redis.call('time') -- the error names the missing permission
end
local now = math.floor(clock / 1000)
local ends = now + tonumber(ARGV[1])

return for_each_name(3, function(held, numbers)
    local first, count = string.match(numbers, '^(%d+) (%d+)$')
    local ids, scores = permit_ids(ARGV[2], first, count), {}
    local first_end = without_end
    for i, id in ipairs(ids) do
        scores[i] = redis.pcall('zscore', held, id)
        if type(scores[i]) == 'table' then
            return scores[i]
        end
        if not scores[i] or tonumber(scores[i]) <= now then
            return 0
        end
        first_end = math.min(first_end, tonumber(scores[i]))
    end
    write_although_full('zrem', held)
    for i, id in ipairs(ids) do
        -- Write even if the present lease is long enough; see renew_leases.lua. ZADD with an
        -- unchanged score writes nothing, so raise the score by at least 1.
        local done = end_at(held, id, math.max(tonumber(scores[i]) + 1, ends))
        if type(done) == 'table' then
            return done
        end
    end
    return 3 + math.floor(first_end - now)
end)
