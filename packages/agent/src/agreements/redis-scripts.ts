import { redisScript } from './redis-script.js';

/** Lets a key live at least `ms` longer from now on. */
const LIVE_AT_LEAST = `
local function live_at_least(key, ms)
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, ms) end
end
`;

/**
 * KEYS session, secret, open, living, all, sessions, spare, agreement
 * ARGV 1 expected version, 2 session doc, 3 new version, 4 life of the session (ms), 5 now, 6 open until or '',
 *      7 secret or '', 8 its life (ms), 9 spare from or '', 10 max agreements, 11 max open, 12 max sessions,
 *      13 agreement doc or '', 14 its version, 15 its state, 16 its deadline, 17 its id, 18 created at,
 *      19 life of its key (ms), 20 pending until or '', 21 member of the session among what is open
 */
export const COMMIT = redisScript(`${LIVE_AT_LEAST}
local session, secret, open, living, all, sessions, spare, agreement = unpack(KEYS)
local now = tonumber(ARGV[5])
local version = redis.call('HGET', session, 'version') or '0'
if version ~= ARGV[1] then return 'conflict' end
local makes = ARGV[13] ~= ''
if makes and redis.call('ZCARD', living) >= tonumber(ARGV[10]) then return 'capacity' end

redis.call('ZREMRANGEBYSCORE', open, '-inf', now)
if ARGV[6] ~= '' or ARGV[20] ~= '' then
  local others = redis.call('ZCARD', open)
  if redis.call('ZSCORE', open, ARGV[21]) then others = others - 1 end
  if others >= tonumber(ARGV[11]) then return 'too_many_open' end
end
if version == '0' then
  redis.call('ZREMRANGEBYSCORE', sessions, '-inf', now)
  if redis.call('ZCARD', sessions) >= tonumber(ARGV[12]) then
    local over = redis.call('ZRANGEBYSCORE', spare, '-inf', now, 'LIMIT', 0, 1)[1]
    if not over then return 'full' end
    redis.call('DEL', over)
    redis.call('ZREM', sessions, over)
    redis.call('ZREM', spare, over)
  end
end

redis.call('HSET', session, 'doc', ARGV[2], 'version', ARGV[3])
redis.call('PEXPIRE', session, ARGV[4])
redis.call('ZADD', sessions, now + tonumber(ARGV[4]), session)
live_at_least(sessions, tonumber(ARGV[4]))
if ARGV[7] ~= '' then redis.call('SET', secret, ARGV[7], 'PX', ARGV[8]) else redis.call('DEL', secret) end
if ARGV[9] ~= '' then
  redis.call('ZADD', spare, ARGV[9], session)
  live_at_least(spare, tonumber(ARGV[4]))
else
  redis.call('ZREM', spare, session)
end
redis.call('ZREM', open, ARGV[21])
if ARGV[6] ~= '' then redis.call('ZADD', open, ARGV[6], ARGV[21]) end
if makes then
  redis.call('HSET', agreement, 'doc', ARGV[13], 'version', ARGV[14], 'state', ARGV[15], 'used', 0)
  redis.call('PEXPIRE', agreement, ARGV[19])
  redis.call('ZADD', living, ARGV[16], ARGV[17])
  redis.call('ZADD', all, ARGV[18], ARGV[17])
  live_at_least(living, tonumber(ARGV[19]))
  live_at_least(all, tonumber(ARGV[19]))
  if ARGV[20] ~= '' then redis.call('ZADD', open, ARGV[20], 'p:' .. ARGV[17]) end
end
local last = redis.call('ZRANGE', open, -1, -1, 'WITHSCORES')[2]
if last then redis.call('PEXPIRE', open, math.max(1, math.ceil(tonumber(last) - now))) end
return 'done'
`);

/**
 * KEYS agreement, calls, running, living, all, ended, open, session, sessions, spare
 * ARGV 1 expected version, 2 doc, 3 version, 4 state, 5 id, 6 deadline or '', 7 life of its keys (ms),
 *      8 now, 9 life of the session from now (ms), 10 max ended, 11 prefix of agreements' keys
 * Answers 1, or 0 when the version is another one or it has ended.
 */
export const COMPARE_AND_SET = redisScript(`
local agreement, calls, running, living, all, ended, open, session, sessions, spare = unpack(KEYS)
local stored = redis.call('HMGET', agreement, 'version', 'state')
if stored[1] ~= ARGV[1] or stored[2] == 'ended' then return 0 end
local now, life = tonumber(ARGV[8]), tonumber(ARGV[7])
redis.call('HSET', agreement, 'doc', ARGV[2], 'version', ARGV[3], 'state', ARGV[4])
redis.call('PEXPIRE', agreement, life)
if ARGV[4] ~= 'pending' then redis.call('ZREM', open, 'p:' .. ARGV[5]) end
if ARGV[4] ~= 'ended' then
  redis.call('ZADD', living, ARGV[6], ARGV[5])
  return 1
end
redis.call('ZREM', living, ARGV[5])
redis.call('PEXPIRE', calls, life)
redis.call('PEXPIRE', running, life)
redis.call('ZADD', ended, now + life, ARGV[5])
redis.call('PEXPIRE', ended, life)
local keep = tonumber(ARGV[9])
local left = redis.call('PTTL', session)
if left > keep then
  redis.call('PEXPIRE', session, keep)
  redis.call('ZADD', sessions, 'XX', now + keep, session)
end
if left > 0 then
  redis.call('ZADD', spare, now, session)
  if redis.call('PTTL', spare) < keep then redis.call('PEXPIRE', spare, keep) end
end
if redis.call('ZCARD', ended) > tonumber(ARGV[10]) then
  local oldest = redis.call('ZPOPMIN', ended)[1]
  redis.call('ZREM', all, oldest)
  -- On a cluster it may have moved to another node just now; it goes by itself there.
  redis.pcall('DEL', ARGV[11] .. oldest)
end
return 1
`);

/**
 * KEYS agreement, calls, running
 * ARGV 1 call id, 2 now, 3 runs until, 4 max calls or '', 5 max at once, 6 remembered ids
 * Answers {outcome, used, holds a place}.
 */
export const CLAIM_CALL = redisScript(`
local agreement, calls, running = unpack(KEYS)
local now = tonumber(ARGV[2])
local stored = redis.call('HMGET', agreement, 'state', 'used')
if stored[1] ~= 'active' then return {'not_active', 0, 0} end
local used = tonumber(stored[2]) or 0
redis.call('ZREMRANGEBYSCORE', running, '-inf', now)
if redis.call('ZSCORE', running, ARGV[1]) then return {'repeated', used, 0} end
local known = redis.call('ZSCORE', calls, ARGV[1])
if not known and ARGV[4] ~= '' and used >= tonumber(ARGV[4]) then return {'exhausted', used, 0} end
if redis.call('ZCARD', running) >= tonumber(ARGV[5]) then return {'busy', used, 0} end
redis.call('ZADD', calls, now, ARGV[1])
redis.call('ZADD', running, ARGV[3], ARGV[1])
local life = redis.call('PTTL', agreement)
redis.call('PEXPIRE', calls, life)
redis.call('PEXPIRE', running, life)
if not known then used = redis.call('HINCRBY', agreement, 'used', 1) end
redis.call('HSET', agreement, 'last', ARGV[2])
local surplus = redis.call('ZCARD', calls) - tonumber(ARGV[6])
if surplus > 0 then
  for _, id in ipairs(redis.call('ZRANGE', calls, 0, -1)) do
    if surplus <= 0 then break end
    if not redis.call('ZSCORE', running, id) then
      redis.call('ZREM', calls, id)
      surplus = surplus - 1
    end
  end
end
return {known and 'repeated' or 'reserved', used, 1}
`);

/**
 * KEYS agreement, running
 * ARGV 1 call id or '', 2 now
 * Answers {used, running}.
 */
export const RELEASE_CALL = redisScript(`
if ARGV[1] ~= '' and redis.call('ZREM', KEYS[2], ARGV[1]) == 1 and redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HSET', KEYS[1], 'last', ARGV[2])
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[2])
return {tonumber(redis.call('HGET', KEYS[1], 'used') or '0'), redis.call('ZCARD', KEYS[2])}
`);

/**
 * KEYS living, all, ended, sessions, spare
 * ARGV 1 now, then ids of agreements whose record is gone.
 */
export const PRUNE = redisScript(`
local living, all, ended, sessions, spare = unpack(KEYS)
for i = 2, #ARGV do
  redis.call('ZREM', living, ARGV[i])
  redis.call('ZREM', all, ARGV[i])
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', ended, '-inf', ARGV[1], 'LIMIT', 0, 1000)) do
  redis.call('ZREM', all, id)
  redis.call('ZREM', ended, id)
end
for _, session in ipairs(redis.call('ZRANGEBYSCORE', sessions, '-inf', ARGV[1], 'LIMIT', 0, 1000)) do
  redis.call('ZREM', sessions, session)
  redis.call('ZREM', spare, session)
end
return 1
`);
