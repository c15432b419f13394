import { growing, readOnly } from './prelude.js';

/** id, version, state, initiator, responder, json, ttl, type, most agreements -> recorded, now, revision */
export const RECORD_AGREEMENT = growing(`
local id, version = arg(1), tonumber(arg(2))
local key = AGREEMENT .. id
local known = tonumber(redis.call('HGET', key, 'version'))
if known and known >= version then return {0, now} end
local ends = now + tonumber(arg(7))
redis.call('DEL', key)
redis.call('HSET', key, 'version', arg(2), 'state', arg(3), 'initiator', arg(4), 'responder', arg(5), 'json', arg(6))
redis.call('PEXPIREAT', key, text(ends))
redis.call('ZADD', AGREEMENTS, 0, id)
redis.call('ZADD', AGREEMENT_ENDS, text(ends), id)
if redis.call('ZCARD', AGREEMENTS) > tonumber(arg(9)) then
  local first = redis.call('ZPOPMIN', AGREEMENT_ENDS)[1]
  forget(AGREEMENT .. first)
  redis.call('ZREM', AGREEMENTS, first)
end
return {1, now, log('type', arg(8), 'id', id, 'json', arg(6))}
`);

/**
 * place (as ZRANGE BYLEX wants it), how many to return, how many to look at, state or '', agent or ''
 * -> now, the last id looked at (none: that was all), id/version/state/json of each
 */
export const LIST_AGREEMENTS = readOnly(`
local wanted, looked, state, agent = tonumber(arg(2)), tonumber(arg(3)), arg(4), arg(5)
local ids = redis.call('ZRANGE', AGREEMENTS, arg(1), '+', 'BYLEX', 'LIMIT', 0, looked)
local found = {}
for i, id in ipairs(ids) do
  local r = redis.call('HMGET', AGREEMENT .. id, 'version', 'state', 'json', 'initiator', 'responder')
  if r[1] and (state == '' or r[2] == state) and (agent == '' or r[4] == agent or r[5] == agent) then
    found[#found + 1] = {id, r[1], r[2], r[3]}
    if #found == wanted then return {now, id, found} end
  end
end
return {now, #ids == looked and ids[#ids] or false, found}
`);
