-- Queue of the clients that wait for a mutex: a sorted set with one entry for each owner. The score
-- of an entry is its arrival (ms of this server's clock) times 1024, plus the number of the owner's
-- last request modulo 1024. So it is an exact number until the year 2248.

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
