-- Returns whether an error means that a key is on another server of the cluster. The error occurs
--   for keys that a script has not declared, while their slot is being migrated. The texts are from
--   version 7.0, from 8.0, and for a slot without a server.
local function is_elsewhere(refusal)
    return string.find(refusal, 'non local key', 1, true) or
        string.find(refusal, 'accessed during rehashing', 1, true) or
        string.find(refusal, 'access a slot not served', 1, true)
end

