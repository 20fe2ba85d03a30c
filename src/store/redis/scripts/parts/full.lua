-- A full server (maxmemory, noeviction) refuses commands that may need memory, until the script has
-- written something. So a script that keeps or gives back what is held writes first what is always
-- allowed and changes nothing: it removes a field or a member that is not there. In a pcall: where
-- that is denied, the script goes on as it would without it.
local function write_although_full(remove, key)
    redis.pcall(remove, key, '')
end
