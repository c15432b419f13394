import { growing, readOnly, shrinking } from './prelude.js';

/**
 * Hashes are compared with plain equality: an attacker would have to choose SHA-256 outputs byte by byte to learn
 * anything from the time it takes, and that is as hard as guessing the token.
 *
 * id, manifest, ttl, hash of a new owner, hash that the caller showed (may be empty), most agents -> kind, now, revision, deadline
 */
export const REGISTER = growing(`
local id, ttl, shown = arg(1), tonumber(arg(3)), arg(5)
local score = tonumber(redis.call('ZSCORE', DEADLINES, id))
local held = find(id)
local owner, kind, type = arg(4), 'registered', 'registered'
if held and held.deadline > now then
  if shown ~= held.owner then return {'taken', now} end
  owner, kind, type = held.owner, 'replaced', 'updated'
elseif held or (score and score <= now) then
  log('type', 'expired', 'id', id)
elseif score then
  -- An orphan that comes back was never gone for those who watch.
  type = 'updated'
elseif redis.call('ZCARD', DEADLINES) >= tonumber(arg(6)) then
  return {'full', now}
end
local deadline = now + ttl
log('type', type, 'id', id, 'ttl', arg(3), 'deadline', text(deadline), 'json', arg(2))
redis.call('HSET', AGENT .. id, 'json', arg(2), 'owner', owner, 'ttl', arg(3), 'rev', text(revision), 'reg', text(now))
extend(id, deadline)
return {kind, now, revision, deadline}
`);

/** id, hash -> kind, now, deadline, ttl, revision of the registration */
export const RENEW = shrinking(`
local held = find(arg(1))
if not held or held.deadline <= now then return {'unknown', now} end
if held.owner ~= arg(2) then return {'forbidden', now} end
local deadline = now + held.ttl
extend(arg(1), deadline)
return {'renewed', now, deadline, held.ttl, held.rev}
`);

/** id, hash (empty: the operator) -> kind, now, revision */
export const DEREGISTER = shrinking(`
local id, shown = arg(1), arg(2)
local held = find(id)
if held then
  if held.deadline <= now then return {'unknown', now} end
  if shown ~= '' and shown ~= held.owner then return {'forbidden', now} end
else
  -- Only the operator can end an orphan: who owned it is not known any more.
  local score = tonumber(redis.call('ZSCORE', DEADLINES, id))
  if shown ~= '' or not score or score <= now then return {'unknown', now} end
end
drop(id)
return {'done', now, log('type', 'deregistered', 'id', id)}
`);

/** id, hash -> kind, now */
export const VERIFY_OWNER = readOnly(`
local held = find(arg(1))
if not held or held.deadline <= now then return {'unknown', now} end
return {held.owner == arg(2) and 'owner' or 'other', now}
`);
