import { COMMON_ARGS, growing, readOnly, shrinking } from './prelude.js';

const VIEW = `
local function view(id)
  local held = find(id)
  if held then return {'record', held.deadline, held.rev} end
  local score = tonumber(redis.call('ZSCORE', DEADLINES, id))
  if score then return {'orphan', score} end
  return {'unknown'}
end
`;

/** ids -> now, a view of each */
export const DEADLINES_OF = readOnly(`${VIEW}
local views = {}
for i = 1, #ARGV - ${String(COMMON_ARGS)} do views[i] = view(arg(i)) end
return {now, views}
`);

/** ids and deadlines in turn -> now, a view of each */
export const ADOPT_ORPHANS = growing(`${VIEW}
local views = {}
for i = 1, #ARGV - ${String(COMMON_ARGS)}, 2 do
  local id = arg(i)
  if redis.call('EXISTS', AGENT .. id) == 0 then redis.call('ZADD', DEADLINES, 'NX', arg(i + 1), id) end
  views[#views + 1] = view(id)
end
return {now, views}
`);

/**
 * The stored deadline against Redis' own clock decides. Neither an expiry event nor the absence of a key does: Redis
 * removes keys when it comes round to it, and tells of it or does not.
 *
 * limit -> now, epoch, revision, expired, guarded, more
 */
export const SWEEP = shrinking(`
local limit, expired, guardedCount = tonumber(arg(1)), 0, 0
local due = redis.call('ZRANGE', DEADLINES, '-inf', text(now), 'BYSCORE', 'LIMIT', 0, limit)
for _, id in ipairs(due) do
  local held = find(id)
  if held and held.deadline > now then
    -- Lengthened by the guard, or the order had lost a renewal.
    if held.deadline ~= held.stored then guardedCount = guardedCount + 1 end
    extend(id, held.deadline)
  else
    drop(id)
    log('type', 'expired', 'id', id)
    expired = expired + 1
  end
end
local rest = redis.call('ZRANGE', DEADLINES, '-inf', text(now), 'BYSCORE', 'LIMIT', 0, 1)
redis.call('HSET', STATE, 'swept', text(now))
for _, id in ipairs(redis.call('ZRANGE', AGREEMENT_ENDS, '-inf', text(now), 'BYSCORE', 'LIMIT', 0, 100)) do
  forget(AGREEMENT .. id)
  redis.call('ZREM', AGREEMENTS, id)
  redis.call('ZREM', AGREEMENT_ENDS, id)
end
return {now, epoch, revision, expired, guardedCount, rest[1] and 1 or 0}
`);
