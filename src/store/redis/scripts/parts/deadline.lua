-- Returns this server's clock in µs, and whether `deadline` (µs of this clock; 0: none) has passed.
-- If the user may not call TIME, returns 0 as the clock, and reports no deadline as passed.

local function clock_and_whether_late(deadline)
    local clock = redis.pcall('time')
    local now = clock.err and 0 or clock[1] * 1000000 + clock[2]
    local until_then = tonumber(deadline)
    return now, until_then > 0 and now > until_then
end

