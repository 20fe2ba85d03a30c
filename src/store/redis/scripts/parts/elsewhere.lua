-- In a cluster, keys that a script has not declared may be at another server while their slot
-- moves; in the words of 7.0, of 8.0, and where nobody serves the slot.
local function is_elsewhere(refusal)
    return string.find(refusal, 'non local key', 1, true) or
        string.find(refusal, 'accessed during rehashing', 1, true) or
        string.find(refusal, 'access a slot not served', 1, true)
end

