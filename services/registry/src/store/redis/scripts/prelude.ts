import { createHash } from 'node:crypto';

/**
 * What every script begins with. ARGV: agent prefix, agreement prefix, last revision the caller has seen, an epoch to
 * use if there is none, the caller's patience (store time, 0: endless), guard threshold, share and least number,
 * length of the log, grace of a record; a script's own arguments follow.
 */
export const COMMON_ARGS = 10;

const NAMES = `
local DEADLINES, CHANGES, REVISION, EPOCH, STATE = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local AGREEMENTS, AGREEMENT_ENDS, RENEWALS = KEYS[6], KEYS[7], KEYS[8]
local AGENT, AGREEMENT = ARGV[1], ARGV[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function arg(n) return ARGV[${String(COMMON_ARGS)} + n] end
local function text(number) return string.format('%.0f', number) end
`;

/** A command that waited in a frozen Redis was long answered as failed; carried out now it would surprise everybody. */
const PATIENCE = `
if tonumber(ARGV[5]) > 0 and now > tonumber(ARGV[5]) then return {'late', now} end
`;

/**
 * An empty Redis, or one that came back with older data than somebody has seen, begins a new epoch and a new log.
 * Revisions go on growing over that: they begin at the time or at what was seen, whichever is larger.
 */
const OPEN = `
local revision = tonumber(redis.call('GET', REVISION))
local epoch = redis.call('GET', EPOCH)
if not revision or not epoch or revision < tonumber(ARGV[3]) then
  revision = math.max(revision or 0, tonumber(ARGV[3]), now)
  epoch = ARGV[4]
  redis.call('SET', REVISION, text(revision))
  redis.call('SET', EPOCH, epoch)
  redis.call('DEL', CHANGES)
end
local function log(...)
  revision = redis.call('INCR', REVISION)
  redis.call('XADD', CHANGES, 'MAXLEN', '~', ARGV[9], text(revision) .. '-0', 'at', text(now), ...)
  return revision
end
`;

/** The rule of domain/guard.ts: the first script after a silence finds the outage, all apply it to what they touch. */
function outage(remember: boolean): string {
  const write = (command: string): string => (remember ? command : '');
  return `
local from, back
do
  local state = redis.call('HMGET', STATE, 'swept', 'from', 'back')
  local swept = tonumber(state[1])
  from, back = tonumber(state[2]), tonumber(state[3])
  ${write("if not swept then redis.call('HSET', STATE, 'swept', text(now)) end")}
  if swept and now - swept > tonumber(ARGV[6]) then
    local known = redis.call('ZCARD', DEADLINES)
    local concerned = redis.call('ZCOUNT', DEADLINES, text(swept), '+inf')
    ${write("redis.call('HSET', STATE, 'swept', text(now))")}
    if concerned >= tonumber(ARGV[8]) and concerned > tonumber(ARGV[7]) * known then
      from, back = swept, now
      ${write("redis.call('HSET', STATE, 'from', text(from), 'back', text(back))")}
    end
  end
end
local function guarded(deadline, ttl)
  if from and deadline >= from and deadline < back + ttl then return back + ttl end
  return deadline
end
`;
}

/** Reads and writes of one registration; the deadline that is answered is the one that counts. */
const RECORDS = `
local function find(id)
  local r = redis.call('HMGET', AGENT .. id, 'owner', 'ttl', 'deadline', 'rev')
  if not r[3] then return nil end
  local ttl = tonumber(r[2])
  return { owner = r[1], ttl = ttl, stored = tonumber(r[3]), deadline = guarded(tonumber(r[3]), ttl), rev = tonumber(r[4]) }
end
`;

/**
 * Keys of single records are not declared. While a slot moves to another node of a cluster, such a key may be there
 * already; Redis then stops the script at the first touch. So scripts touch records before they change anything, and
 * what is only cleared away must not stop them: it goes at its time to live.
 */
const WRITES = `
local function forget(key)
  redis.pcall('DEL', key)
end
local function extend(id, deadline)
  redis.call('HSET', AGENT .. id, 'deadline', text(deadline))
  redis.call('PEXPIREAT', AGENT .. id, text(deadline + tonumber(ARGV[10])))
  redis.call('ZADD', DEADLINES, text(deadline), id)
end
local function drop(id)
  redis.call('DEL', AGENT .. id)
  redis.call('ZREM', DEADLINES, id)
end
`;

export interface LuaScript {
  readonly text: string;
  readonly sha: string;
}

function script(text: string): LuaScript {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/** Refused as a whole, before its first line, when Redis is out of memory, read-only or cannot save. */
export function growing(body: string): LuaScript {
  return script(`#!lua\n${NAMES}${PATIENCE}${OPEN}${outage(true)}${RECORDS}${WRITES}${body}`);
}

/** Writes without making the data larger (to speak of), so it goes on when Redis is out of memory. */
export function shrinking(body: string): LuaScript {
  return script(`#!lua flags=allow-oom\n${NAMES}${PATIENCE}${OPEN}${outage(true)}${RECORDS}${WRITES}${body}`);
}

export function readOnly(body: string): LuaScript {
  return script(`#!lua flags=no-writes\n${NAMES}${outage(false)}${RECORDS}${body}`);
}
