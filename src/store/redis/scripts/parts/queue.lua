-- Queue of the clients that wait for a mutex: a sorted set with one entry for each owner. The score
-- of an entry is the arrival of the owner (ms of this server's clock) times 1024, plus the number
-- of its last request modulo 1024. Scores are exact numbers until the year 2248.
--
-- An entry is the owner's text. If the owner waits for a fenced mutex, a space and a letter follow:
-- `f`, or `d` if its fencing tokens must be at least the time. A `+` follows if the owner needs
-- several tokens, because it hands the lock over to other callers of its client.

local requests_counted = 1024

local function score_of(arrival, number)
    return string.format('%.0f', arrival * requests_counted + number % requests_counted)
end

local function arrival_in(score)
    return math.floor(tonumber(score) / requests_counted)
end

local function request_in(score)
    return string.format('%.0f', tonumber(score) % requests_counted)
end

local function entry_of(owner, is_fenced, is_dated, count)
    return owner .. (is_fenced and (is_dated and ' d' or ' f') or '') .. (count > 1 and '+' or '')
end

-- Removes the owner from the queue, whatever it waits for.
local function leave_queue(queue, owner)
    redis.pcall('zrem', queue, owner, owner .. ' f', owner .. ' f+', owner .. ' d', owner .. ' d+')
end
