-- Does something to each name in KEYS, with an argument of its own: the first one's is ARGV[first].
-- `act` has both, and the key behind the name; there are so many `keys_each`, if not 1.
-- Returns for each what was done (1) | 0 no such hold; or what is everybody's trouble (rights, a
-- replica), which must not pass for a lost hold.

local function for_each_name(first, act, keys_each)
    local done = {}
    for i = 1, #KEYS, keys_each or 1 do
        local said = act(KEYS[i], ARGV[first + #done], KEYS[i + 1])
        if type(said) == 'table' then
            -- A name that has become something else must not spoil the others' answers.
            if not string.find(said.err, 'WRONGTYPE', 1, true) then
                return said
            end
            said = 0
        end
        table.insert(done, said)
    end
    return done
end

