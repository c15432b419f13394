import { COMMON_ARGS, growing, readOnly } from './prelude.js';

/** Where the log stands, for a snapshot -> now, epoch, revision, last line (or none), last renewals (or none), number of deadlines */
export const LOG_END = growing(`
local line = redis.call('XREVRANGE', CHANGES, '+', '-', 'COUNT', 1)[1] or false
local renewals = redis.call('XREVRANGE', RENEWALS, '+', '-', 'COUNT', 1)[1]
return {now, epoch, revision, line, renewals and renewals[1] or '0-0', redis.call('ZCARD', DEADLINES)}
`);

/** revision -> now, epoch, last revision, the line at that revision (or none) */
export const LOG_LINE = readOnly(`
local line = redis.call('XRANGE', CHANGES, arg(1) .. '-0', arg(1) .. '-0')[1] or false
return {now, redis.call('GET', EPOCH), tonumber(redis.call('GET', REVISION) or 0), line}
`);

/** ids -> now, id/manifest/ttl/deadline/revision/registered of each that has a record (the others are orphans) */
export const READ_RECORDS = readOnly(`
local found = {}
for i = 1, #ARGV - ${String(COMMON_ARGS)} do
  local id = arg(i)
  local r = redis.call('HMGET', AGENT .. id, 'json', 'ttl', 'deadline', 'rev', 'reg')
  if r[1] and r[3] then
    found[#found + 1] = {id, r[1], r[2], guarded(tonumber(r[3]), tonumber(r[2])), r[4], r[5]}
  end
end
return {now, found}
`);

/** ids: their records exist, but nothing orders them -> now */
export const REINDEX = growing(`
for i = 1, #ARGV - ${String(COMMON_ARGS)} do
  local id = arg(i)
  local held = find(id)
  if held then redis.call('ZADD', DEADLINES, 'NX', text(held.deadline), id) end
end
return {now}
`);
