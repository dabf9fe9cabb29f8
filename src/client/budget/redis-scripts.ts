/**
 * The budget's decisions in Lua, on Redis's clock: the same as the functions in migrations, to the bit, which
 * test/client/budget/store-suite.ts checks. Numbers are stored and returned as strings of 17 digits: a Lua number would
 * lose its fraction.
 *
 * After a failover or a restart a server may lack the last writes of the one before. A key that another server has decided
 * last counts as used up, and is blocked for 15 s: then the tokens granted before have expired, and every process has
 * reported its calls in flight or lost its slots.
 */

/**
 * A forgotten key starts without its burst and without its learnt rate: only keys unused for more than a week are
 * forgotten.
 */
const KEEP_MS = 8 * 24 * 60 * 60 * 1000;

const COMMON = `
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local function exact(number) return string.format('%.17g', number) end
local function keep(till) redis.call('PEXPIRE', KEYS[1], math.ceil((till - now) / 1000) + ${KEEP_MS}) end
local back = (tonumber(redis.call('HGET', KEYS[1], 'countedUntil')) or 0) - now
if back > 0 then
  for _, name in ipairs({'tat', 'interactiveTurns', 'batchTurns', 'share', 'blockedUntil', 'recoverFrom',
      'waitedForUntil', 'countedUntil', 'boundUntil'}) do
    local at = tonumber(redis.call('HGET', KEYS[1], name))
    if at then redis.call('HSET', KEYS[1], name, exact(at - back)) end
  end
end
`;

const LEARNING = `
local before = redis.call('HMGET', KEYS[1], 'blockedUntil', 'rateAtCut', 'recoverFrom', 'grown', 'waitedForUntil',
  'countedUntil', 'boundRate', 'boundUntil')
local blockedUntil = tonumber(before[1]) or now
local rateAtCut, recoverFrom = tonumber(before[2]) or 0, tonumber(before[3]) or 0
local waitedForUntil = tonumber(before[5]) or 0
local boundRate, boundUntil = tonumber(before[7]) or 0, tonumber(before[8]) or 0
local from = math.max(tonumber(before[6]) or 0, recoverFrom, blockedUntil)
local grown = (tonumber(before[4]) or 0) + math.max(0, math.min(now, waitedForUntil) - from)

local function rateNow(ceiling, mode)
  local rate = ceiling
  if rateAtCut > 0 then
    local grownFor = math.max(0, now - recoverFrom) / 1000000
    if mode == 'discover' then grownFor = grown / 1000000 end
    if grownFor < 20 then
      local left = 1 - grownFor / 20
      rate = rateAtCut * (0.95 - 0.25 * left * left * left)
    else
      local probed = grownFor - 20
      if mode == 'discover' then
        rate = rateAtCut * (0.95 + 0.0025 * probed + 0.000001 * probed * probed * probed)
      else
        rate = 0.95 * rateAtCut + 0.0025 * ceiling * probed
      end
    end
  elseif mode == 'discover' then
    local doublings = grown / 1000000 / 4
    rate = 1
    while doublings >= 1 and rate < ceiling do
      rate = rate * 2
      doublings = doublings - 1
    end
    rate = rate * (1 + math.min(1, doublings))
  end
  rate = math.min(ceiling, math.max(rate, (1 / 60)))
  if now < boundUntil then rate = math.min(rate, math.max(boundRate, (1 / 60))) end
  return rate
end
`;

// KEYS  1 the budget's hash  2 its slots, a hash of holder → "seq slots wanted since expiresAt"
// ARGV  1 lane  2 want  3 cost  4 ceiling  5 burst  6 mode  7 withinUs  8 share  9 boundRate  10 boundForUs  11 successes
//       12 holder, or ''  13 seq  14 holding  15 wanted  16 cap  17 extra
// gives {granted, now, first, retry, blocked, rate, slots}: calls, µs since 1970, delays in µs from then, tokens a second
export const ACQUIRE = `${COMMON}${LEARNING}
local lane, mode, holder = ARGV[1], ARGV[6], ARGV[12]
local want, cost, ceiling, burst = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local within, share = tonumber(ARGV[7]), tonumber(ARGV[8])

local saidRate = tonumber(ARGV[9])
if saidRate > 0 and (now >= boundUntil or saidRate <= boundRate) then
  boundRate = saidRate
  boundUntil = now + tonumber(ARGV[10])
end
local rate = rateNow(ceiling, mode)
local interval = 1000000 / rate
if mode == 'discover' then burst = math.min(burst, 1 + rate * 0.0025) end

local slots = 0
if holder ~= '' then
  local seq, holding, wanted = tonumber(ARGV[13]), tonumber(ARGV[14]), tonumber(ARGV[15])
  local cap, extra = tonumber(ARGV[16]), tonumber(ARGV[17])
  local own, others = nil, {}
  local all = redis.call('HGETALL', KEYS[2])
  for i = 1, #all, 2 do
    local words = {}
    for word in string.gmatch(all[i + 1], '%S+') do words[#words + 1] = tonumber(word) end
    if words[5] > now + 15000000 then
      words[4], words[5] = math.min(words[4], now), now + 15000000
      redis.call('HSET', KEYS[2], all[i], table.concat({exact(words[1]), exact(words[2]), exact(words[3]),
        exact(words[4]), exact(words[5])}, ' '))
    end
    local known = {seq = words[1], slots = words[2], wanted = words[3], since = words[4]}
    if words[5] <= now then redis.call('HDEL', KEYS[2], all[i])
    elseif all[i] == holder then own = known
    else others[#others + 1] = known end
  end
  if own and own.seq >= seq then
    slots = 0
  elseif wanted == 0 and holding == 0 then
    redis.call('HDEL', KEYS[2], holder)
  else
    local isWaiting = own == nil or own.slots == 0
    local since = now
    if own then since = own.since end
    local isTurnOver = not isWaiting and now - since >= 500000
    local wanting = 0
    if wanted > 0 then wanting = 1 end
    for _, other in ipairs(others) do
      if other.wanted > 0 then wanting = wanting + 1 end
    end
    local equal = cap
    if wanting > 0 then equal = math.floor(cap / wanting) end
    local due = 0
    for _, other in ipairs(others) do
      if equal >= 1 then due = due + math.max(other.slots, math.min(other.wanted, equal))
      elseif other.slots > 0 then due = due + other.slots
      elseif other.wanted > 0 and (isTurnOver or (isWaiting and other.since < since)) then due = due + 1 end
    end
    slots = math.max(0, math.min(wanted, cap - due))
    want = want + math.max(0, math.min(extra, slots - holding))
    local held = math.max(holding, slots)
    if (held > 0) == isWaiting then since = now end
    redis.call('HSET', KEYS[2], holder, table.concat({exact(seq), exact(held), exact(wanted),
      exact(since), exact(now + 15000000)}, ' '))
    redis.call('PEXPIRE', KEYS[2], 15000 + 1000)
  end
end

local bucket = redis.call('HMGET', KEYS[1], 'tat', lane .. 'Turns', 'share', 'retries', 'server', 'gap')
local cell = cost * interval
local room = math.max(burst, cost) * interval
local ahead = 1000000
if lane ~= 'interactive' then
  local afterFirst = math.max(0, math.floor(50000 / cell) - 1) * cell
  ahead = afterFirst + math.max(0, 50000 - (burst - 1) * interval)
end
ahead = math.min(ahead, within)
local tat = tonumber(bucket[1]) or 0
local gap, stoppedUntil = tonumber(bucket[6]) or 0, math.max(now, blockedUntil)
if gap > 0 and gap ~= interval and tat > stoppedUntil then
  tat = stoppedUntil + (tat - stoppedUntil) * interval / gap
end
tat = math.max(tat, now)
local server = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') or ''
if bucket[5] and bucket[5] ~= server then
  tat = math.max(tat, now + 250000 + burst * interval)
  blockedUntil = math.max(blockedUntil, now + 15000000)
end
tat = math.max(tat, blockedUntil + (burst - 1) * interval)
local turns = tonumber(bucket[2]) or 0
local shareAt = tonumber(bucket[3]) or 0
local retries = math.min(1000, (tonumber(bucket[4]) or 1000) + tonumber(ARGV[11]))
local leaseCalls = math.max(1, math.floor(250000 / cell))

local granted, retry = 0, 0
local first = tat - now + cell - room
local blocked = math.max(0, blockedUntil - now)

if blocked > 0 then
  retry = blocked
else
  local free = math.floor((ahead - first) / cell + 1 + 0.001)
  granted = math.max(0, math.min(want, free, leaseCalls))
  if share > 0 then
    local span = math.max(250000, cell / share)
    shareAt = math.max(shareAt, now - span)
    if granted == 0 then
      local earned = math.floor(((now - shareAt) * share) / cell + 0.001)
      local inTime = math.floor((within - first) / cell + 1 + 0.001)
      granted = math.max(0, math.min(want, earned, inTime, leaseCalls))
    end
    shareAt = math.min(shareAt + (granted * cell) / share, now + span)
  end
  tat = tat + granted * cell
  if granted > 0 then waitedForUntil = math.max(waitedForUntil, now + first + (granted - 1) * cell) end

  if granted < want then
    local left = want - granted
    local turn = math.min(left, math.max(1, math.floor(50000 / cell))) * cell
    local turnEnd = math.min(math.max(turns, tat), tat + 15 * turn) + turn
    retry = turnEnd - now - room - ahead
    local byShare = math.huge
    if share > 0 then
      local shareCalls = math.min(left, math.max(1, math.floor((50000 * share) / cell)))
      byShare = math.max(shareAt + (shareCalls * cell) / share, tat + cell - room - within) - now
    end
    if byShare < retry then retry = byShare else turns = turnEnd end
    if now < boundUntil then retry = math.min(retry, boundUntil - now) end
    retry = math.max(0, retry)
    waitedForUntil = math.max(waitedForUntil, now + retry + 50000)
  end
end

redis.call('HSET', KEYS[1], 'tat', exact(tat), lane .. 'Turns', exact(turns), 'share', exact(shareAt),
  'blockedUntil', exact(blockedUntil), 'grown', exact(grown), 'waitedForUntil', exact(waitedForUntil),
  'countedUntil', exact(now), 'boundRate', exact(boundRate), 'boundUntil', exact(boundUntil), 'retries', exact(retries),
  'server', server, 'gap', exact(interval))
keep(math.max(tat, blockedUntil))
return {exact(granted), exact(now), exact(first), exact(retry), exact(blocked), exact(rate), exact(slots)}
`;

// KEYS  1 the budget's hash
// ARGV  1 forUs
// gives nothing
export const BLOCK = `${COMMON}${LEARNING}
blockedUntil = math.max(blockedUntil, now + tonumber(ARGV[1]))
redis.call('HSET', KEYS[1], 'blockedUntil', exact(blockedUntil), 'grown', exact(grown), 'countedUntil', exact(now))
keep(blockedUntil)
`;

// KEYS  1 the budget's hash
// ARGV  1 forUs  2 admittedAtUs  3 ceiling  4 mode
// gives {isCut, rate, now}: 1 or 0, tokens a second, µs since 1970
export const LIMITED = `${COMMON}${LEARNING}
local ceiling, mode = tonumber(ARGV[3]), ARGV[4]
local rateBefore = rateNow(ceiling, mode)
local isCut, takesHold = 0, recoverFrom
blockedUntil = math.max(blockedUntil, now + tonumber(ARGV[1]))
if tonumber(ARGV[2]) >= recoverFrom then
  isCut = 1
  takesHold = now + 250000
  rateAtCut = rateBefore
  grown = 0
end
recoverFrom = math.max(takesHold, blockedUntil)
redis.call('HSET', KEYS[1], 'blockedUntil', exact(blockedUntil), 'rateAtCut', exact(rateAtCut),
  'recoverFrom', exact(recoverFrom), 'grown', exact(grown), 'countedUntil', exact(now))
keep(blockedUntil)
return {isCut, exact(rateNow(ceiling, mode)), exact(now)}
`;

// KEYS  1 the budget's hash
// ARGV  1 successes
// gives {isGranted, retryInUs, now}
export const RETRY = `${COMMON}
local before = redis.call('HMGET', KEYS[1], 'retries', 'retryAsked')
local tenths = math.min(1000, (tonumber(before[1]) or 1000) + tonumber(ARGV[1]))
if tenths < 10 then
  tenths = math.min(10, tenths + math.max(0, now - (tonumber(before[2]) or 0)) / 1000000)
end
local isGranted, retryIn = 0, (10 - tenths) * 1000000
if tenths >= 10 - 0.001 then
  isGranted, retryIn = 1, 0
  tenths = math.max(0, tenths - 10)
end
redis.call('HSET', KEYS[1], 'retries', exact(tenths), 'retryAsked', exact(now))
keep(now)
return {isGranted, exact(retryIn), exact(now)}
`;
