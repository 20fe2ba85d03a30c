-- Ends the owner's hold and its entry in the queue of waiting clients. Then grants the lock to the
-- first client in the queue, and notifies only this client. If no client in the queue can be
-- notified, notifies all waiters, as release_mutex does. The script can be repeated.
-- KEYS: name.
-- ARGV: owner, channel, queue (also the name of the channel of the clients in the queue), start of
--   the name of a client's inbox, ms for which the next owner gets the lock, token counter, number
--   of tokens for an owner that needs several, 1: clients may wait outside the queue unseen,
--   publish command, a second publish command (optional).
-- Returns {1, receivers (-1: message denied), 1 granted to the next client | 0} | {0, 0, 0} if this
--   owner does not hold the lock.
-- uses: fencing listeners queue take tell

-- The script removes entries of dead clients without a grant. One release removes at most this
-- number.
local candidates_max = 16

-- End the hold first. So the lock is released even if the server is full or a command is denied.
local ended = redis.pcall('hdel', KEYS[1], ARGV[1])
if type(ended) == 'table' and not string.find(ended.err, 'WRONGTYPE', 1, true) then
    return ended
end
local queued = redis.pcall('zcard', ARGV[3])
local any_queued = type(queued) == 'number' and queued > 0
if any_queued then
    leave_queue(ARGV[3], ARGV[1])
end
if ended ~= 1 then
    return {0, 0, 0}
end

-- Returns whether clients wait outside the queue: Redisson clients, and callers that want no lock
-- but wait until it is free.
local function others_wait()
    if ARGV[8] == '1' then
        return true
    end
    local counts = listeners_of({ARGV[2], ARGV[3]}, ARGV[9] == 'SPUBLISH' or ARGV[10])
    return not counts or counts[1] > counts[2]
end

-- Returns whether the clients outside the queue may try to take the lock now. This is so for about
-- half of the releases. The clock decides, because Redis gives each script the same random numbers.
local function is_turn_of_others()
    local clock = redis.pcall('time')
    return clock.err or clock[2] % 2 == 0
end

-- Grants the lock to the owner of a queue entry, with the lease ARGV[5]. `form` is the text after
-- the owner in the entry. Returns the fencing token as text, or an empty text if the mutex is not
-- fenced. Returns nil if the grant is not possible.
local function grant_to(owner, form)
    local token = ''
    if form ~= '' then
        -- The token counter is not a declared key of this script. While the slot of the lock is
        -- being migrated, the counter may be on the other node. A new counter here would grant the
        -- same tokens again.
        if not redis.call('get', ARGV[6]) then
            return nil
        end
        local count = string.find(form, '+', 1, true) and ARGV[7]
        local clock = string.find(form, 'd') and redis.call('time') or {0, 1}
        local least = clock[1] * 1000000 + clock[2]
        local first = tokens_for(ARGV[6], tonumber(count or 1), least, false)
        if not first then
            return nil
        end
        token = string.format('%.0f', first)
    end
    return not take_hold(KEYS[1], owner, ARGV[5]) and token or nil
end

-- Grants the lock to the first client in the queue whose inbox has a subscriber. Returns the number
-- of its subscribers (-1: message denied), or nil if there is no such client.
local function grant_to_next()
    for _ = 1, candidates_max do
        local first = redis.pcall('zpopmin', ARGV[3])
        local entry, score = first[1], first[2]
        if not entry then
            return nil
        end
        local client, owner_number, form = string.match(entry, '^(.*):(%d+) ?(.*)$')
        local owner = client .. ':' .. owner_number
        -- While the slot of the lock is being migrated, this node may refuse to create the key
        -- again. This error must not end the script, because the lock is released already.
        local is_done, token = pcall(grant_to, owner, form)
        if not is_done or not token then
            return nil
        end
        local message = owner_number .. ' ' .. request_in(score) ..
            (token == '' and '' or ' ' .. token)
        local receivers = tell(ARGV[4] .. ':' .. client, message, ARGV[9], ARGV[10])
        -- A negative number means that a publish command was denied. If there are two publish
        -- commands, the other may have reached the client. So keep the grant: the client finds it
        -- with its next request.
        if receivers ~= 0 then
            return receivers
        end
        redis.call('hdel', KEYS[1], owner)
    end
end

local others = any_queued and others_wait()
local told = any_queued and not (others and is_turn_of_others()) and grant_to_next()
if told then
    -- A client outside the queue knows only the lease of the former holder. It would sleep too long
    -- if the next holder dies. So make it send a request now.
    if others then
        tell(ARGV[2], '0', ARGV[9], ARGV[10])
    end
    return {1, told, 1}
end
return {1, tell(ARGV[2], '0', ARGV[9], ARGV[10]), 0}
