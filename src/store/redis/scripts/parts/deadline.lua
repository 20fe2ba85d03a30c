-- This server's clock in µs (0: an ACL forbids TIME, and then there is no deadline), and whether
-- a deadline by it (0: none) is over.

local function clock_and_whether_late(deadline)
    local clock = redis.pcall('time')
    local now = clock.err and 0 or clock[1] * 1000000 + clock[2]
    local until_then = tonumber(deadline)
    return now, until_then > 0 and now > until_then
end

