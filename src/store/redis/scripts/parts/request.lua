-- Carries out each request at most once. A client that changes a counter sends two numbers with
-- each request: a slot in the client's hash, and a number greater than in all earlier requests. The
-- slot stores the last request and its reply: '<number> <done> <value>'. A request with a smaller
-- number is not carried out.

local stored_before = '' -- content of the slot before this request

-- Returns the earlier reply if this request was carried out before, and whether a later request has
-- used the slot. Extends the TTL of the record, although it only repeats a reply: replicas that
-- confirm this write have the earlier change, too.
local function answer_before(requests, slot, number, memory)
    stored_before = redis.call('hget', requests, slot) or ''
    local last, done, value = string.match(stored_before, '^(%d+) (%d+) (%-?%d+)$')
    if not last or tonumber(last) < tonumber(number) then
        return nil, false
    end
    if tonumber(last) > tonumber(number) then
        return nil, true
    end
    redis.call('pexpire', requests, memory)
    return {tonumber(done), tonumber(value)}, false
end

-- Makes a full server accept the record of a request that gives permits back. A full server refuses
-- commands that may need memory until the script has written something. If this command is denied,
-- a later command reports the error.
local function write_request_although_full(requests, memory)
    redis.pcall('pexpire', requests, memory)
end

-- Records the reply before the change, so that no change is without a record. If the record cannot
-- get a TTL (the user may not call PEXPIRE), removes the record again.
local function remember_answer(requests, slot, number, done, value, memory)
    local answer = string.format('%s %d %.0f', number, done, value)
    redis.call('hset', requests, slot, answer)
    if type(redis.pcall('pexpire', requests, memory)) == 'table' then
        if stored_before == '' then
            redis.call('hdel', requests, slot)
        else
            redis.call('hset', requests, slot, stored_before)
        end
        redis.call('pexpire', requests, memory) -- raises the error again and ends the script
    end
end

local function is_refused(answer)
    return type(answer) == 'table' and answer.err ~= nil
end

local function forget(requests, slot)
    redis.call('hset', requests, slot, stored_before)
end

-- Runs a command of the change, after the request was recorded. If the server refuses the command,
-- `undo` reverses the commands before it. Then removes the record, so that the request can be
-- repeated, and ends the script with the error.
local function carry_out(requests, slot, undo, ...)
    if is_refused(redis.pcall(...)) then
        if undo then
            undo()
        end
        forget(requests, slot)
        redis.call(...) -- raises the error again and ends the script
    end
end
