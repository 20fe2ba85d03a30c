-- Carries out each request at most once. A client that changes a counter gives each request two
-- numbers: a slot in the client's hash, and a number greater than all earlier numbers. The slot
-- stores its last request and the reply: '<number> <done> <value>'. If the number of a request is
-- smaller than the stored number, the request is not carried out.

local stored_before = '' -- content of the slot before this request

-- Returns the earlier reply to this same request if the request was carried out, and whether a
--   later request has used the slot. Writes the record again, so that replicas which confirm this
--   reply have also confirmed the change.
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
-- commands that may need memory until the script has written something. If the command below is
-- denied, a later command reports the error.
local function write_request_although_full(requests, memory)
    redis.pcall('pexpire', requests, memory)
end

-- Records the reply before the change, because a change without a record must not be made. If the
-- record cannot get a TTL (an ACL may deny it), the record is removed again.
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

-- Runs a command of the change. The request is recorded already. If the command is refused (an ACL
-- may deny it), `undo` reverses the commands before it. Then the record is removed, so that the
-- request can be repeated, and the script ends with the error.
local function carry_out(requests, slot, undo, ...)
    if is_refused(redis.pcall(...)) then
        if undo then
            undo()
        end
        forget(requests, slot)
        redis.call(...) -- raises the error again and ends the script
    end
end
