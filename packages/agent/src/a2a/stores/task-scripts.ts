import { redisScript } from '../../agreements/redis-script.js';

/**
 * Names of 22 characters, as in a member `<scope>:<context>:<task id>`.
 *
 * While its slot moves to another node of a cluster, Redis stops a script at the first touch of an undeclared key that is
 * there already. So such keys come before any change, and forgetting ends with what makes it be tried again.
 */
const FORGET = `
local function unindex(index_prefix, scope, context, id)
  local index = index_prefix .. scope
  redis.call('ZREM', index, id)
  redis.call('ZREM', index .. ':c:' .. context, id)
  for state = 0, 8 do redis.call('ZREM', index .. ':s' .. state, id) end
end
local function forget(phase, member, task_prefix, index_prefix)
  local scope, context, id = string.sub(member, 1, 22), string.sub(member, 24, 45), string.sub(member, 47)
  redis.call('DEL', task_prefix .. scope .. ':' .. id)
  unindex(index_prefix, scope, context, id)
  redis.call('ZREM', phase, member)
end
local function forget_past(phases, now, task_prefix, index_prefix)
  for _, phase in ipairs(phases) do
    for _, member in ipairs(redis.call('ZRANGEBYSCORE', phase, '-inf', now, 'LIMIT', 0, 100)) do
      forget(phase, member, task_prefix, index_prefix)
    end
  end
end
`;

/**
 * KEYS task, index, index of its state, index of its context, running, waiting, ended, replica
 * ARGV 1 expected version or '' (any), 2 doc, 3 state, 4 phase, 5 time of its status, 6 member, 7 id, 8 now,
 *      9 its life from now (ms), 10 max tasks, 11 prefix of tasks, 12 prefix of indexes, 13 replica id,
 *      14 how long the replica counts as alive (ms) or '', 15 prefix of replicas if only a dead one's task is to be
 *      written, else ''
 * Answers {outcome, version}: saved, conflict, ended (in another state), same (ended in this state), full,
 * alive, gone.
 */
export const SAVE_TASK = redisScript(`${FORGET}
local task, index, by_state, by_context, running, waiting, ended, replica = unpack(KEYS)
local id, now, life = ARGV[7], tonumber(ARGV[8]), tonumber(ARGV[9])
local phases = {running = running, waiting = waiting, ended = ended}
forget_past({ended, waiting, running}, now, ARGV[11], ARGV[12])

local version, state, phase, writer = unpack(redis.call('HMGET', task, 'version', 'state', 'phase', 'replica'))
if ARGV[15] ~= '' then
  if not version or phase ~= 'running' then return {'gone', 0} end
  if writer and redis.call('EXISTS', ARGV[15] .. writer) == 1 then return {'alive', 0} end
end
if version then
  local other = ARGV[1] ~= '' and ARGV[1] ~= version
  if phase == 'ended' then
    if state ~= ARGV[3] then return {'ended', tonumber(version)} end
    if other then return {'same', tonumber(version)} end
  elseif other then
    return {'conflict', tonumber(version)}
  end
else
  local stored = redis.call('ZCARD', running) + redis.call('ZCARD', waiting) + redis.call('ZCARD', ended)
  if stored >= tonumber(ARGV[10]) then
    local from = ended
    local oldest = redis.call('ZRANGE', ended, 0, 0)[1]
    if not oldest then
      from = waiting
      oldest = redis.call('ZRANGE', waiting, 0, 0)[1]
    end
    if not oldest then return {'full', 0} end
    forget(from, oldest, ARGV[11], ARGV[12])
  end
end

if state and state ~= ARGV[3] then redis.call('ZREM', ARGV[12] .. string.sub(ARGV[6], 1, 22) .. ':s' .. state, id) end
local next_version = (tonumber(version or ARGV[1]) or 0) + 1
redis.call('HSET', task, 'doc', ARGV[2], 'version', next_version, 'state', ARGV[3], 'phase', ARGV[4], 'replica', ARGV[13])
if not (phase == 'ended') then
  redis.call('HSET', task, 'until', now + life)
  redis.call('PEXPIRE', task, life)
  if phase and phase ~= ARGV[4] then redis.call('ZREM', phases[phase], ARGV[6]) end
  redis.call('ZADD', phases[ARGV[4]], now + life, ARGV[6])
end
for _, key in ipairs({index, by_state, by_context}) do redis.call('ZADD', key, ARGV[5], id) end
for _, key in ipairs({index, by_state, by_context, phases[ARGV[4]]}) do
  if redis.call('PTTL', key) < life then redis.call('PEXPIRE', key, life) end
end
if ARGV[4] == 'running' and ARGV[14] ~= '' then redis.call('SET', replica, 1, 'PX', ARGV[14]) end
return {'saved', next_version}
`);

/**
 * KEYS index, running, waiting, ended
 * ARGV 1 prefix of tasks, 2 prefix of indexes, 3 scope, 4 now, 5 context or '', 6 state or '', 7 since or '-inf',
 *      8 time of the last one seen or '+inf', 9 its id, 10 how many
 * Answers {how many match, whether there are more, then id and time of each}.
 */
export const LIST_TASKS = redisScript(`${FORGET}
local index, running, waiting, ended = unpack(KEYS)
local task_prefix, scope, state = ARGV[1], ARGV[3], ARGV[6]
forget_past({ended, waiting, running}, ARGV[4], task_prefix, ARGV[2])
local both = ARGV[5] ~= '' and state ~= ''
local set = index
if ARGV[5] ~= '' then set = index .. ':c:' .. ARGV[5] elseif state ~= '' then set = index .. ':s' .. state end
local limit, total, more, found = tonumber(ARGV[10]), 0, 0, {}
if not both then total = redis.call('ZCOUNT', set, ARGV[7], '+inf') end

local last_at, last_id = tonumber(ARGV[8]), ARGV[9]
local function is_behind(id, at)
  if ARGV[8] == '+inf' then return true end
  return at < last_at or (at == last_at and id < last_id)
end
local from = both and '+inf' or ARGV[8]
local offset, size = 0, 200
repeat
  local batch = redis.call('ZREVRANGEBYSCORE', set, from, ARGV[7], 'WITHSCORES', 'LIMIT', offset, size)
  for i = 1, #batch, 2 do
    local id = batch[i]
    local matches = not both or redis.call('HGET', task_prefix .. scope .. ':' .. id, 'state') == state
    if both and matches then total = total + 1 end
    if matches and is_behind(id, tonumber(batch[i + 1])) then
      if #found < 2 * limit then
        found[#found + 1] = id
        found[#found + 1] = batch[i + 1]
      else
        more = 1
      end
    end
  end
  offset = offset + size
until #batch < 2 * size or (more == 1 and not both)
return {total, more, unpack(found)}
`);

/**
 * KEYS running, waiting, ended
 * ARGV 1 prefix of tasks, 2 prefix of indexes, then members
 * Takes away what points to tasks that are not there any more.
 */
export const PRUNE_TASKS = redisScript(`${FORGET}
for i = 3, #ARGV do
  local member = ARGV[i]
  if redis.call('EXISTS', ARGV[1] .. string.sub(member, 1, 22) .. ':' .. string.sub(member, 47)) == 0 then
    for _, phase in ipairs(KEYS) do forget(phase, member, ARGV[1], ARGV[2]) end
  end
end
return 1
`);
