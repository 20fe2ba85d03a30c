-- Does something to each name in KEYS, with an argument of its own: the first one's is ARGV[first].
-- Returns for each what was done (1) | 0 no such hold; or what is everybody's trouble (rights, a
-- replica), which must not pass for a lost hold.

local function for_each_name(first, act)
    local done = {}
    for i, name in ipairs(KEYS) do
        local said = act(name, ARGV[first + i - 1])
        if type(said) == 'table' then
            -- A name that has become something else must not spoil the others' answers.
            if not string.find(said.err, 'WRONGTYPE', 1, true) then
                return said
            end
            said = 0
        end
        done[i] = said
    end
    return done
end

