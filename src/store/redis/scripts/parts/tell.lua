-- Publishes a message with one or two publish commands. Returns the number of connections that got
-- the message, or -1 if the user may not publish. In that case, earlier changes of the script
-- remain.

local function tell(channel, message, command, other)
    local told = redis.pcall(command, channel, message)
    local more = other and redis.pcall(other, channel, message) or 0
    return type(told) == 'number' and type(more) == 'number' and told + more or -1
end

