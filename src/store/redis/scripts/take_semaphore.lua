-- Takes permits, if there are enough. If a request is repeated, it takes permits only once.
-- KEYS: name, requests of this client.
-- ARGV: permits, slot, number, deadline in µs of this server's clock (0: none), ms for which the
--   request is remembered.
-- Returns {1 taken | 0 not enough, or given back before | 2 late, µs now or 0}.
-- Redisson: tryAcquire of RedissonSemaphore.
-- uses: deadline request instead number count

local now, late = clock_and_whether_late(ARGV[4])
if late then
    return {2, now}
end

local before, overtaken = answer_before(KEYS[2], ARGV[2], ARGV[3], ARGV[5])
if before or overtaken then
    return {overtaken and 2 or before[1], now}
end

local there, trouble = count_of(KEYS[1], 'a semaphore')
if trouble then
    return trouble
end
local wanted = tonumber(ARGV[1])
if (there or 0) < wanted then
    return {0, now}
end
remember_answer(KEYS[2], ARGV[2], ARGV[3], 1, there - wanted, ARGV[5])
carry_out(KEYS[2], ARGV[2], nil, 'decrby', KEYS[1], ARGV[1])
return {1, now}
