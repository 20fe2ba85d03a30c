-- Takes permits under a lease, if enough are free. If the owner already has the permits, confirms
-- them and never shortens their leases. Frees expired permits first.
-- KEYS: name, held permits.
-- ARGV: lease ms, first number, how many, prefix of the ids, deadline in µs of this server's clock
--   (0: none), channel, publish command, a second publish command (optional).
-- Returns {1 granted | 0 busy | 2 late, if busy ms until the next permit expires (-1: never), µs
--   now}.
-- Redisson: tryAcquire of RedissonPermitExpirableSemaphore.
-- uses: deadline instead number count full permits tell

local expired_max = 100

local clock, late = clock_and_whether_late(ARGV[5])
if clock == 0 then
    -- without TIME, no lease can expire; this error names the missing permission
    return redis.call('time')
end
if late then
    return {2, 0, clock}
end

local ids = permit_ids(ARGV[4], ARGV[2], ARGV[3])
local free, trouble = count_of(KEYS[1], 'a leased semaphore')
trouble = trouble or trouble_with_form(KEYS[2], #ids[1])
if trouble then
    return trouble
end
local now = math.floor(clock / 1000)

-- `mine`: permits that an earlier attempt took, whose reply was lost.
local mine, missing = {}, {}
for _, id in ipairs(ids) do
    mine[id] = tonumber(redis.call('zscore', KEYS[2], id) or nil)
    if not mine[id] then
        table.insert(missing, id)
    end
end
local most = expired_max + 2 * #ids
local over = redis.call('zrangebyscore', KEYS[2], 0, now, 'limit', 0, most)
local next_end = redis.call('zrangebyscore', KEYS[2], '(' .. now, '+inf', 'withscores',
    'limit', 0, 1)
local others = {}
for _, id in ipairs(over) do
    if not mine[id] then
        table.insert(others, id)
    end
end
-- Permits that the owner has stay held, even if the number of free permits is negative.
local is_granted = #missing == 0 or (free or 0) + #others >= #missing
local back = is_granted and others or over
if not is_granted then -- all or none: some of the permits alone would belong to no hold
    for id, ends in pairs(mine) do
        if ends > now then
            table.insert(back, id)
        end
    end
end

if #missing == 0 then
    write_although_full('zrem', KEYS[2])
end

local function refused(answer)
    return type(answer) == 'table' and answer.err
end

-- If the server refuses a command, the script restores the numbers of held and free permits.
local more = #back - (is_granted and #missing or 0)
local value = (free or 0) + more
local lasts_until = now + tonumber(ARGV[1])

-- A script must not empty a key and then use it again: while the slot is being migrated, the server
-- would report that the key is on the other server. So the new permits are added before the last
-- expired permits are removed.
local empties = is_granted and #back > 0 and #back == redis.call('zcard', KEYS[2])
if empties then
    redis.call('zrem', KEYS[2], '')
    for _, id in ipairs(missing) do
        local done = end_at(KEYS[2], id, lasts_until)
        if refused(done) then -- only the first command can be refused
            return done
        end
    end
end
if #back > 0 then
    redis.call('zrem', KEYS[2], unpack(back))
end
if more ~= 0 then
    local done = redis.pcall('incrby', KEYS[1], string.format('%.0f', more))
    if refused(done) then
        for _, id in ipairs(back) do
            end_at(KEYS[2], id, now)
        end
        if empties then
            redis.call('zrem', KEYS[2], unpack(missing))
        end
        return done
    end
end
if is_granted then
    for _, id in ipairs(ids) do
        -- Raise the score by at least 1, because ZADD with an unchanged score writes nothing. Why
        -- the script must write: see parts/confirm.lua.
        local done = end_at(KEYS[2], id, math.max((mine[id] or 0) + 1, lasts_until))
        if refused(done) then -- only the first command can be refused
            redis.call('incrby', KEYS[1], #missing)
            return done
        end
    end
    local left = #missing > 0 and redis.pcall('pttl', KEYS[1])
    if left and not refused(left) and left > 0 then
        left = redis.pcall('pexpire', KEYS[2], left)
    end
    if left and refused(left) then
        redis.call('zrem', KEYS[2], unpack(missing))
        redis.call('incrby', KEYS[1], #missing)
        return left
    end
end
if #back > 0 and value > 0 then
    tell(ARGV[6], string.format('%.0f', value), ARGV[7], ARGV[8])
end
if is_granted then
    return {1, 0, clock}
end
local ends_next = tonumber(next_end[2] or without_end)
return {0, #over == most and 1 or ends_next < without_end and ends_next - now or -1, clock}
