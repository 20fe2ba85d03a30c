-- Writes the entry of a client into the index of the clients that list holds or waits. The score of
-- an entry is the time (ms of this server's clock) at which the client's own key expires. Entries
-- whose time has passed are removed. If `ms` is 0, removes the entry of the client instead. Does
-- nothing if `now` is 0, which means that TIME is denied. A denied command changes nothing, because
-- operators can do without the index.

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
