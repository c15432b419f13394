import { COMMON_ARGS, growing, readOnly } from './prelude.js';

/** Where the log stands, for a snapshot -> now, epoch, revision, last line (or none), last renewals (or none), number of deadlines, outage */
export const LOG_END = growing(`
local line = redis.call('XREVRANGE', CHANGES, '+', '-', 'COUNT', 1)[1] or false
local renewals = redis.call('XREVRANGE', RENEWALS, '+', '-', 'COUNT', 1)[1]
return {now, epoch, revision, line, renewals and renewals[1] or '0-0', redis.call('ZCARD', DEADLINES), from or false, back or false}
`);

/** revision -> now, epoch, last revision, the line at that revision (or none) */
export const LOG_LINE = readOnly(`
local line = redis.call('XRANGE', CHANGES, arg(1) .. '-0', arg(1) .. '-0')[1] or false
return {now, redis.call('GET', EPOCH), tonumber(redis.call('GET', REVISION) or 0), line}
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
