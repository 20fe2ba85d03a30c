-- Makes a full server (maxmemory, noeviction) accept the later writes of a script that keeps or
-- returns a hold. A full server refuses commands that may need memory until the script has written
-- something. So this function removes a field or member that does not exist: a full server accepts
-- this, and nothing changes. If the user may not call the command, the script goes on without it.
local function write_although_full(remove, key)
    redis.pcall(remove, key, '')
end
