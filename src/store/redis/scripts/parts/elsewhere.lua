-- Returns whether an error means that a key is on another server of the cluster. A server reports
-- this error while it migrates the slot of a key that the script has not declared. The texts are
-- from version 7.0, from 8.0, and for a slot without a server.
local function is_elsewhere(refusal)
    return string.find(refusal, 'non local key', 1, true) or
        string.find(refusal, 'accessed during rehashing', 1, true) or
        string.find(refusal, 'access a slot not served', 1, true)
end

