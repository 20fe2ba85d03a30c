-- At most once. A client that changes a counter gives each request a slot in a hash of its own, and
-- a number that is greater than those before it; the slot remembers the last one, and what it was
-- answered: '<number> <done> <value>'. What came before is not carried out any more.

-- The answer to this very request, if it was carried out; and whether it is too late for it.
local function answer_before(requests, slot, number)
    local stored = redis.call('hget', requests, slot)
    local last, done, value = string.match(stored or '', '^(%d+) (%d+) (%-?%d+)$')
    if not last or tonumber(last) < tonumber(number) then
        return nil, false
    end
    if tonumber(last) > tonumber(number) then
        return nil, true
    end
    return {tonumber(done), tonumber(value)}, false
end

-- Before the change: what cannot be remembered is not done; nor is it remembered where that could
-- have no end, which an ACL may deny.
local function remember_answer(requests, slot, number, done, value, memory)
    local answer = string.format('%s %d %.0f', number, done, value)
    local was_there = redis.call('pexpire', requests, memory) == 1
    redis.call('hset', requests, slot, answer)
    if not was_there then
        redis.call('pexpire', requests, memory)
    end
end
