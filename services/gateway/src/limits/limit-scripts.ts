import { sharedScript } from '../redis/shared-script.ts';

/**
 * A counter is one hash – `p` posted, `r` held, `o` by how much what is held may
 * overshoot – and, but for requests, which are counted at once, one sorted set
 * of what is held: `<reservation>:<held>:<overshoot>` by the time at which its
 * owner must be gone. What is found there later is voided, and leaves a mark
 * (`-<member>`) for a day, so that an owner who was only paused, or the next life
 * of one who died, still posts what was used, once. Numbers are integers below 2^53, which Lua and JSON hold exactly.
 *
 * An epoch is not now when the clock of Redis says so, whatever those of the
 * gateways say: then nothing is done, and the gateway asks again by that clock. Nor is anything
 * taken that nobody waits for any more.
 *
 * The mark of an organisation says whether Redis knows its counters: without it,
 * Redis was emptied. Counters whose epoch began before `since` may be missing: one
 * has no `p` until whoever needs it asked the ledger. What was posted before then is
 * known from two sides, of which neither knows all: `s`, the ledger's sum, and what
 * gateways heard (`w`, of them all the most) and posted since for what they had taken (`a`).
 */
const shared = `
local function timeOf(given)
  local now = tonumber(given)
  if now then return now, now * 1000 end
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000), t[1] * 1000000 + t[2]
end
local function int(number) return string.format('%.0f', number) end
local function void(hash, held, now)
  local gone, over = 0, 0
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', held, '-inf', int(now), 'LIMIT', 0, 100)) do
    redis.call('ZREM', held, member)
    if string.sub(member, 1, 1) ~= '-' then
      local amount, short = string.match(member, ':(%d+):(%d+)$')
      gone, over = gone + tonumber(amount), over + tonumber(short)
      redis.call('ZADD', held, int(now + 86400000), '-' .. member)
    end
  end
  if gone > 0 then redis.call('HINCRBY', hash, 'r', int(-gone)) end
  if over > 0 then redis.call('HINCRBY', hash, 'o', int(-over)) end
end
local function lost(hash)
  local found = redis.call('HMGET', hash, 's', 'w', 'a')
  return math.max(tonumber(found[1] or 0), tonumber(found[2] or 0) + tonumber(found[3] or 0))
end
local function counts(hash)
  local found = redis.call('HMGET', hash, 'p', 'r', 'o')
  local isNew = not found[1]
  return isNew and lost(hash) or tonumber(found[1]), tonumber(found[2] or 0), tonumber(found[3] or 0), isNew
end
`;

/**
 * What is left is what nobody has used, holds, or may use beyond what is held: so
 * a limit is overshot by no more than what one request is estimated to use.
 *
 * KEYS  the mark; for each counter its hash, and its set unless it counts requests; of a group that may be new the
 *       same of the group that all share for which there is no room, and the number of groups
 * ARGV  words, since each argument costs: now or "-", known mark or "-", "take" or "peek", reservation or "-", ms until
 *       it must be renewed, groups of a policy at most, number of counters of the request, when nobody waits for it any
 *       more or "-": done later, by a Redis that hung, it would stay counted where its gateway has died meanwhile;
 *       seven words of each counter: flags, what is asked for, what must be left, limit, start and end of its epoch,
 *       when it may be forgotten
 * flags -: none, q: requests, p: of a period, whose end may have moved since the counter began, g: of a group, o: of one that is known to have a counter, n: refuses nothing, l: a
 *       lease, which is never used beyond what is held, s: in shadow mode, k: what was lost of it is known
 * reply words: "ok", now, the same in µs, refused index or 0, and five of each counter: posted, held, over, taken, bits
 *       bits 1: counted in the shared group, 2: would have refused
 *       or "clock" now, "mark" now mark or none, "lost" now index…, "new" now index…: of these groups there is no
 *       counter after all
 */
export const takeScript = sharedScript<string>(`${shared}
local given, known, mode, id, expiry, groupsMax, ofRequest, waited =
  string.match(ARGV[1], '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)')
local now, us = timeOf(given)
if now > (tonumber(waited) or now) then return 'clock ' .. int(now) end
local mark = redis.call('GET', KEYS[1])
if mark ~= known then return 'mark ' .. int(now) .. ' ' .. (mark or '') end
local since = tonumber(string.match(mark, '^%d+'))
local takes = mode == 'take'
expiry, groupsMax, ofRequest = tonumber(expiry), tonumber(groupsMax), tonumber(ofRequest)
local i, key, found, gone, new, refused = 0, 2, {}, {}, {}, 0
local words = '(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)'
for flags, asked, needed, limit, from, to, keep in string.gmatch(ARGV[2], words) do
  i = i + 1
  limit, asked, needed, from, to = tonumber(limit), tonumber(asked), tonumber(needed), tonumber(from), tonumber(to)
  if now < from or (to > 0 and now >= to) then return 'clock ' .. int(now) end
  local counter = { flags = flags, asked = asked, bits = 0, keep = keep, hash = KEYS[key], held = KEYS[key + 1] }
  local size = string.find(flags, 'q', 1, true) and 1 or 2
  local grouped = string.find(flags, 'g', 1, true)
  local posted, pending, over, isNew = counts(counter.hash)
  if isNew and grouped then
    counter.groups = KEYS[key + 2 * size]
    if tonumber(redis.call('GET', counter.groups) or 0) >= groupsMax then
      counter.hash, counter.held, counter.groups, counter.bits = KEYS[key + size], KEYS[key + size + 1], nil, 1
      posted, pending, over, isNew = counts(counter.hash)
    end
  elseif isNew and string.find(flags, 'o', 1, true) then
    new[#new + 1] = i
  end
  key = key + (grouped and 2 * size + 1 or size)
  if isNew and takes and from < since and counter.bits == 0 and not string.find(flags, 'k', 1, true) then
    gone[#gone + 1] = i
  end
  if pending + over > 0 and (not takes or limit - posted - pending - over < needed) then
    void(counter.hash, counter.held, now)
    posted, pending, over = counts(counter.hash)
  end
  if takes and not isNew and string.find(flags, 'p', 1, true) then redis.call('PEXPIREAT', counter.hash, keep) end
  local left = limit - posted - pending - over
  if left < needed and not string.find(flags, 'n', 1, true) then
    if string.find(flags, 's', 1, true) then
      counter.bits = counter.bits + 2
    elseif takes and refused == 0 then
      refused = i
    end
  end
  counter.posted, counter.pending, counter.over, counter.left, counter.isNew = posted, pending, over, left, isNew
  found[i] = counter
end
if #new > 0 then return 'new ' .. int(now) .. ' ' .. table.concat(new, ' ') end
if #gone > 0 then return 'lost ' .. int(now) .. ' ' .. table.concat(gone, ' ') end
local last = #found
if not takes or (refused > 0 and refused <= ofRequest) then last = 0 elseif refused > 0 then last = ofRequest end
local reply = {}
for at = 1, #found do
  local counter, taken = found[at], 0
  if at <= last then
    taken = counter.asked
    if counter.isNew then
      redis.call('HSET', counter.hash, 'p', int(counter.posted))
      redis.call('PEXPIREAT', counter.hash, counter.keep)
      if counter.groups then
        redis.call('INCR', counter.groups)
        redis.call('PEXPIREAT', counter.groups, counter.keep)
      end
    end
    if string.find(counter.flags, 'q', 1, true) then
      redis.call('HINCRBY', counter.hash, 'p', int(taken))
      counter.posted = counter.posted + taken
    else
      if not string.find(counter.flags, 's', 1, true) then
        taken = math.min(taken, math.max(0, counter.left))
      end
      local short = string.find(counter.flags, 'l', 1, true) and 0 or counter.asked - taken
      redis.call('ZADD', counter.held, int(now + expiry), id .. ':' .. int(taken) .. ':' .. int(short))
      redis.call('PEXPIREAT', counter.held, counter.keep)
      redis.call('HINCRBY', counter.hash, 'r', int(taken))
      if short > 0 then redis.call('HINCRBY', counter.hash, 'o', int(short)) end
      counter.pending, counter.over = counter.pending + taken, counter.over + short
    end
  end
  reply[at] = string.format('%.0f %.0f %.0f %.0f %d', counter.posted, counter.pending, counter.over, taken, counter.bits)
end
return 'ok ' .. int(now) .. ' ' .. int(us) .. ' ' .. refused .. ' ' .. table.concat(reply, ' ')`);

/**
 * What becomes of counters after they were asked; each line is done once however
 * often it is sent.
 *
 * KEYS  the mark; for each line the hash and the set of its counter
 * ARGV  words, as above: now or "-", known mark or "-"; of each line what, and three more:
 *       "end" member, actual, -: what was held goes back, what was used is posted
 *       "add" id, amount, when it may be forgotten
 *       "renew" member, ms until it must be renewed again, -
 *       of what Redis has lost, each as "add":
 *       "late" id, amount: of what was taken before was used
 *       "heard" -, posted: so far it was known to be before
 *       "sum" -, posted: what the ledger has of it, where nobody counts yet: later it has what was taken since
 * reply words: now in µs, and of each line posted, held, over; -1 where there is no counter. Nothing
 *       at all is done where the mark is another: the reply is empty then.
 */
export const settleScript = sharedScript<string>(`${shared}
local given, known = string.match(ARGV[1], '^(%S+) (%S+)')
local now, us = timeOf(given)
local reply = {}
if redis.call('GET', KEYS[1]) ~= known then return '' end
local i = 0
for what, one, two, keep in string.gmatch(ARGV[2], '(%S+) (%S+) (%S+) (%S+)') do
  i = i + 1
  local hash, held = KEYS[2 * i], KEYS[2 * i + 1]
  local _, _, _, isNew = counts(hash)
  if what == 'end' then
    if not isNew then
      if redis.call('ZREM', held, one) == 1 then
        local amount, short = string.match(one, ':(%d+):(%d+)$')
        if amount ~= '0' then redis.call('HINCRBY', hash, 'r', '-' .. amount) end
        if short ~= '0' then redis.call('HINCRBY', hash, 'o', '-' .. short) end
        redis.call('HINCRBY', hash, 'p', two)
      elseif redis.call('ZREM', held, '-' .. one) == 1 then
        redis.call('HINCRBY', hash, 'p', two)
      end
    end
  elseif what == 'renew' then
    redis.call('ZADD', held, 'XX', int(now + tonumber(two)), one)
  elseif tonumber(keep) > now then
    local isAdded = false
    if what == 'add' or what == 'late' then
      isAdded = redis.call('ZADD', held, 'NX', int(now + 3600000), '-' .. one) == 1
      if isAdded then redis.call('PEXPIREAT', held, keep) end
    end
    if isAdded and what == 'add' and not isNew then
      redis.call('HINCRBY', hash, 'p', two)
    elseif what == 'sum' then
      if isNew then
        redis.call('HSET', hash, 's', two)
        redis.call('HSET', hash, 'p', int(lost(hash)))
      end
    elseif isAdded or what == 'heard' then
      local before = lost(hash)
      if isAdded then
        redis.call('HINCRBY', hash, 'a', two)
      elseif tonumber(two) > tonumber(redis.call('HGET', hash, 'w') or 0) then
        redis.call('HSET', hash, 'w', two)
      end
      if not isNew then
        redis.call('HINCRBY', hash, 'p', int(lost(hash) - before))
      end
    end
    if isNew then redis.call('PEXPIREAT', hash, keep) end
  end
  local after, pending, over, isMissing = counts(hash)
  reply[i] = isMissing and after == 0 and '-1 -1 -1' or int(after) .. ' ' .. int(pending) .. ' ' .. int(over)
end
return int(us) .. ' ' .. table.concat(reply, ' ')`);

/** KEYS the mark; ARGV what it is to be unless there is one. Reply: what it is. */
export const markScript = sharedScript<string>(`
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])`);
