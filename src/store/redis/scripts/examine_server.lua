-- Returns the server's INFO. The script has a lock name as its key. So a cluster runs the script on
-- the node of this lock name.
-- KEYS: name. ARGV: none.
-- Returns the text of INFO, or the error. Redisson has no such script.

return redis.pcall('info')
