-- Whoever asked for a lock and met a key of another type is told what that is: a hash is a lock of
-- another kind, perhaps, and so is a string. Other errors pass.
local function what_is_instead(name, refused)
    if not string.find(refused.err, 'WRONGTYPE', 1, true) then
        return refused
    end
    local is = type(redis.pcall('hlen', name)) == 'number' and 'a hash' or
        type(redis.pcall('get', name)) == 'string' and 'a string' or 'neither a hash nor a string'
    return redis.error_reply('WRONGTYPE the key is ' .. is .. ', and no lock of the kind asked for')
end

