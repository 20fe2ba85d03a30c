-- What the server tells of itself, asked where locks are: by a script, on the node of this name.
-- KEYS: name. ARGV: none.
-- Returns what INFO says | the refusal of it. Not of Redisson.

return redis.pcall('info')
