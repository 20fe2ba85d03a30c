-- Writes the entry of a client into the index, which lists the clients with holds or waits. The
-- score of an entry is the time (ms of this server's clock) at which the client's key expires.
-- Removes expired entries. If `ms` is 0, removes the entry of this client instead. `now` is 0 if
-- TIME is denied. Returns the text of the first error, or '' if there was none. An error does not
-- prevent the write of the client's key, because only operators need the index.

local function write_index(index, client, now, ms)
    local refusal = ''
    local function run(...)
        local answer = redis.pcall(...)
        if type(answer) == 'table' and answer.err and refusal == '' then
            refusal = answer.err
        end
        return answer
    end
    if ms == 0 then
        run('zrem', index, client)
    elseif now == 0 then
        refusal = 'NOPERM TIME is denied'
    else
        run('zremrangebyscore', index, '-inf', string.format('(%.0f', now))
        run('zadd', index, string.format('%.0f', now + ms), client)
        local left = run('pttl', index)
        if type(left) == 'number' and left < ms then
            run('pexpire', index, ms)
        end
    end
    return refusal
end
