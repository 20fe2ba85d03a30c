-- Extends each hold whose permits are all there, shortens none, brings none back.
-- KEYS: the sets of held permits. ARGV: lease ms (0: extend none), what the ids begin with, then
--   for each '<first number> <how many>'.
-- Returns for each 3 + the ms until the first of them ends | 0 not all are still held.
--   updateLeaseTime of RedissonPermitExpirableSemaphore
-- uses: deadline elsewhere full names permits

local clock = clock_and_whether_late('0')
if clock == 0 then
    return redis.call('time') -- the refusal says what is missing
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
        -- Written even if enough is left, see renew_leases.lua; what is the same is not written.
        local done = end_at(held, id, math.max(tonumber(scores[i]) + 1, ends))
        if type(done) == 'table' then
            return done
        end
    end
    return 3 + math.floor(first_end - now)
end)
