-- Does something to each name in KEYS, with an argument of its own: the first one's is ARGV[first].
-- `act` has both, and the key behind the name; there are so many `keys_each`, if not 1. Without
-- KEYS the names stand behind these arguments: so names of many slots go together, if they are at
-- one server of a cluster.
-- Returns for each what was done (1) | 0 no such hold | 2 it is not at this server; or what is
-- everybody's trouble (rights, a replica), which must not pass for a lost hold.

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
            -- A name that has become something else must not spoil the others' answers.
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
