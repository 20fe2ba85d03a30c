-- Returns the server's INFO. It is a script with a key, so that a cluster runs it on the node that
-- has this lock name.
-- KEYS: name. ARGV: none.
-- Returns the text of INFO, or the error. Redisson has no such script.

return redis.pcall('info')
