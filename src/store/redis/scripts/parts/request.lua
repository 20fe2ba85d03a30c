-- At most once. A client that changes a counter gives each request a slot in a hash of its own, and
-- a number that is greater than those before it; the slot remembers the last one, and what it was
-- answered: '<number> <done> <value>'. What came before is not carried out any more.

local stored_before = '' -- in the slot

-- The answer to this very request, if it was carried out; and whether it is too late for it. It is
-- written anew, so that replicas which confirm the answer confirm what was done.
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

-- Before a request that gives something back is remembered, so that a full server allows it: it
-- refuses commands that may need memory, until the script has written something. In a pcall: where
-- that is denied, what follows says so.
local function write_request_although_full(requests, memory)
    redis.pcall('pexpire', requests, memory)
end

-- Before the change: what cannot be remembered is not done; nor is it remembered where that could
-- have no end, which an ACL may deny.
local function remember_answer(requests, slot, number, done, value, memory)
    local answer = string.format('%s %d %.0f', number, done, value)
    redis.call('hset', requests, slot, answer)
    if type(redis.pcall('pexpire', requests, memory)) == 'table' then
        if stored_before == '' then
            redis.call('hdel', requests, slot)
        else
            redis.call('hset', requests, slot, stored_before)
        end
        redis.call('pexpire', requests, memory) -- which ends the script
    end
end

local function is_refused(answer)
    return type(answer) == 'table' and answer.err ~= nil
end

local function forget(requests, slot)
    redis.call('hset', requests, slot, stored_before)
end

-- A command of the change that is remembered already. Where it is refused (an ACL may deny it) the
-- request is forgotten, so that it can be repeated, and the script ends; what other commands did
-- before it, `undo` takes back.
local function carry_out(requests, slot, undo, ...)
    if is_refused(redis.pcall(...)) then
        if undo then
            undo()
        end
        forget(requests, slot)
        redis.call(...) -- which ends the script
    end
end
