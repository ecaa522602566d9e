import { sharedScript } from '../../redis/shared-script.ts';

export type CircuitsReply = [
  epoch: string,
  last: number,
  hasMore: number,
  ...changes: (string | number)[],
];

/**
 * One round trip: applies what happened at this gateway since the last one, by
 * the rule of `packages/engine/src/breaker.ts`, and tells what changed at all.
 *
 * A count lives in a key of its own that expires one cooldown after its first
 * call, which is when the rule starts to count again. Circuits that opened or
 * closed are numbered in the order of their changes, so that a gateway reads
 * only what is new to it. Closed ones are kept for a minute to be heard of.
 *
 * KEYS  changes (name by number of the change), states (name to
 *       "closes-at cooldown origin", closes-at 0 = closed), ends (name by when
 *       to forget it), meta (epoch and the last number), then one count a circuit
 * ARGV  own id, known epoch, last number seen, changes wanted at most, then for
 *       each circuit: name, event, closes in ms, cooldown ms, failures,
 *       successes, threshold or "", percentage or "", minimum of requests.
 *       Event: "open", "close", "" or "keep" (opened while Redis was away; for
 *       a circuit that Redis knows better, nothing)
 * reply { epoch, last number read, more to read (1 or 0), then for each change
 *       name, closes in ms (0 or less = half-open) or "closed", cooldown ms }.
 *       The epoch is another one when Redis lost its memory.
 */
export const exchangeCircuits = sharedScript<CircuitsReply>(`
local changes, states, ends, meta = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local own, seen, page = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local halfOpenKept, closedKept, circuitsMax, unusedKept = 3600000, 60000, 100000, 86400000

local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local epoch = redis.call('HGET', meta, 'epoch')
if not epoch then
  epoch = t[1] .. '.' .. t[2]
  redis.call('HSET', meta, 'epoch', epoch)
end
if epoch ~= ARGV[2] then seen = 0 end

local function change(name, closesAt, cooldown, origin)
  redis.call('ZADD', changes, redis.call('HINCRBY', meta, 'last', 1), name)
  redis.call('HSET', states, name, string.format('%.0f %.0f %s', closesAt, cooldown, origin))
  local forget = now + closedKept
  if closesAt > 0 then forget = closesAt + halfOpenKept end
  redis.call('ZADD', ends, forget, name)
end

local function forget(name)
  redis.call('ZREM', changes, name)
  redis.call('HDEL', states, name)
  redis.call('ZREM', ends, name)
end

for i = 5, #KEYS do
  local count, base = KEYS[i], 4 + (i - 5) * 9
  local name, event = ARGV[base + 1], ARGV[base + 2]
  local closesIn, cooldown = tonumber(ARGV[base + 3]), tonumber(ARGV[base + 4])
  local failures, successes = tonumber(ARGV[base + 5]), tonumber(ARGV[base + 6])
  local held = redis.call('HGET', states, name)
  local closesAt = 0
  if held then closesAt = tonumber(string.match(held, '^%d+')) end

  if event == 'open' or (event == 'keep' and (not held or (closesAt > 0 and closesAt <= now))) then
    closesAt = now + closesIn
    change(name, closesAt, cooldown, own)
    redis.call('DEL', count)
  elseif event == 'close' then
    if closesAt > 0 then change(name, 0, cooldown, own) end
    closesAt = 0
    redis.call('DEL', count)
  end

  if failures + successes > 0 and closesAt <= now then
    local isNew = redis.call('EXISTS', count) == 0
    failures = redis.call('HINCRBY', count, 'failures', failures)
    successes = redis.call('HINCRBY', count, 'successes', successes)
    if isNew then redis.call('PEXPIRE', count, cooldown) end
    local threshold, percentage = tonumber(ARGV[base + 7]), tonumber(ARGV[base + 8])
    local total = failures + successes
    if (threshold and failures > threshold) or (percentage and failures > 0
        and total >= tonumber(ARGV[base + 9]) and failures / total * 100 > percentage) then
      change(name, now + cooldown, cooldown, '')
      redis.call('DEL', count)
    end
  end
end

for _, name in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now, 'LIMIT', 0, 100)) do
  forget(name)
end
local excess = redis.call('ZCARD', changes) - circuitsMax
if excess > 0 then
  for _, name in ipairs(redis.call('ZRANGE', changes, 0, math.min(excess, 1000) - 1)) do
    forget(name)
  end
end
for i = 1, 4 do redis.call('PEXPIRE', KEYS[i], unusedKept) end

local reply = { epoch, seen, 0 }
local read = redis.call('ZRANGEBYSCORE', changes, '(' .. string.format('%.0f', seen), '+inf',
  'WITHSCORES', 'LIMIT', 0, page)
for i = 1, #read, 2 do
  reply[2] = tonumber(read[i + 1])
  local closesAt, cooldown, origin = string.match(redis.call('HGET', states, read[i]), '^(%d+) (%d+) (.*)$')
  if origin ~= own then
    reply[#reply + 1] = read[i]
    if closesAt == '0' then
      reply[#reply + 1] = 'closed'
    else
      reply[#reply + 1] = tonumber(closesAt) - now
    end
    reply[#reply + 1] = tonumber(cooldown)
  end
end
if #read >= 2 * page then reply[3] = 1 end
return reply`);
