-- Writes the entry of a client into the index, which lists the clients with holds or waits. The
-- score of an entry is the time (ms of this server's clock) at which the client's key expires.
-- Removes expired entries. If `ms` is 0, removes the entry of this client instead. Does nothing if
-- `now` is 0 because TIME is denied. Ignores errors, because only operators need the index.

local function write_index(index, client, now, ms)
    if ms == 0 then
        redis.pcall('zrem', index, client)
    elseif now > 0 then
        redis.pcall('zremrangebyscore', index, '-inf', string.format('(%.0f', now))
        redis.pcall('zadd', index, string.format('%.0f', now + ms), client)
        local left = redis.pcall('pttl', index)
        if type(left) == 'number' and left < ms then
            redis.pcall('pexpire', index, ms)
        end
    end
end
