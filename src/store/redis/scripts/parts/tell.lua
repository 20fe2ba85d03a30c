-- Publishes a message with one or two publish commands. If the message is denied, the earlier
-- changes remain. Returns the number of connections that received the message (-1: denied).

local function tell(channel, message, command, other)
    local told = redis.pcall(command, channel, message)
    local more = other and redis.pcall(other, channel, message) or 0
    return type(told) == 'number' and type(more) == 'number' and told + more or -1
end

