-- Calls `act` for each name, with the name, the name's argument, and the key after the name. The
-- arguments begin at ARGV[first]. Each name takes `keys_each` keys (1 if nil). If KEYS is empty,
-- the names follow the arguments in ARGV. So one request to a server of a cluster can have names of
-- many slots. Returns for each name the result of `act`: 1 done | 0 no such hold | 2 the name is
-- not on this server. If an error concerns all names (a missing permission, or the server is a
-- replica), returns the error instead, so that the caller does not report lost holds.

local function for_each_name(first, act, keys_each)
    local names, each = KEYS, keys_each or 1
    if #KEYS == 0 then
        names = {unpack(ARGV, first + (#ARGV - first + 1) / (each + 1))}
    end
    local done = {}
    for i = 1, #names, each do
        local said = act(names[i], ARGV[first + #done], names[i + 1])
        if type(said) == 'table' then
            if is_elsewhere(said.err) then
                said = 2
            -- If the key of one name has another kind now, only this name has lost its hold.
            elseif string.find(said.err, 'WRONGTYPE', 1, true) then
                said = 0
            else
                return said
            end
        end
        table.insert(done, said)
    end
    return done
end
