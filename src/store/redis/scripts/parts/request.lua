-- Carries out each request at most once. A client that changes a counter gives each request a slot
-- in a hash of its own, and a number greater than all numbers before. The slot remembers its last
-- request and the answer: '<number> <done> <value>'. A request with a smaller number is not carried
-- out any more.

local stored_before = '' -- what the slot had before this request

-- Returns the earlier answer to this very request if it was carried out, and whether a later
-- request has taken its slot. The record is written again, so that replicas which confirm the
-- answer also confirm the change.
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

-- Makes a full server accept the record of a request that gives something back. A full server
-- refuses commands that may need memory until the script has written something. If this command is
-- denied, a later command reports it.
local function write_request_although_full(requests, memory)
    redis.pcall('pexpire', requests, memory)
end

-- Records the answer before the change: a change that cannot be remembered must not be made. The
-- record is also undone if it cannot get a TTL, which an ACL may deny.
local function remember_answer(requests, slot, number, done, value, memory)
    local answer = string.format('%s %d %.0f', number, done, value)
    redis.call('hset', requests, slot, answer)
    if type(redis.pcall('pexpire', requests, memory)) == 'table' then
        if stored_before == '' then
            redis.call('hdel', requests, slot)
        else
            redis.call('hset', requests, slot, stored_before)
        end
        redis.call('pexpire', requests, memory) -- raises the error and ends the script
    end
end

local function is_refused(answer)
    return type(answer) == 'table' and answer.err ~= nil
end

local function forget(requests, slot)
    redis.call('hset', requests, slot, stored_before)
end

-- Runs a command of the change; the request is recorded already. If the command is refused (an ACL
-- may deny it), `undo` takes back the commands before it. Then the record is removed, so that the
-- request can be repeated, and the script ends.
local function carry_out(requests, slot, undo, ...)
    if is_refused(redis.pcall(...)) then
        if undo then
            undo()
        end
        forget(requests, slot)
        redis.call(...) -- raises the error and ends the script
    end
end
