/** What Sluice's gateway is held to; the bare proxy and other gateways are shown beside it without a target. */
export const targets = {
  unaryCpuRatio: 1.7,
  streamCpuRatio: 1.1,
  translatedUnaryCpuRatio: 2.5,
  translatedStreamCpuRatio: 1.6,
  /** Of the bare proxy's requests a second. */
  saturationRatio: 0.6,
  addedLatencyP50Ms: 0.5,
  addedLatencyP99Ms: 2.5,
  addedFirstByteP50Ms: 0.8,
  addedFirstByteP99Ms: 3,
  rssIdleMb: 130,
  rssLoadedMb: 200,
  openStreamKb: 40,
  /** Of the bare proxy's, of streams that are all begun at once: until the last has its first byte, and memory of each. */
  burstOpenedRatio: 1.5,
  burstStreamKbRatio: 1.5,
  coldStartS: 0.4,
  planUs: 10,
  matchUs: 20,
  estimateUs: 30,
  /** Of the same request where nothing is limited. */
  limitedCpuRatio: 1.1,
  /** Of the same request whose bodies are not kept. */
  keptCpuRatio: 1.1,
  /** Three patterns on 2 kB. */
  patternsUs: 60,
  /** Personal data in 2 kB. */
  piiUs: 300,
  /** Of the same request in a workspace without guardrails; rounds differ by as much. */
  unguardedCpuRatio: 1.05,
  /** Of the same stream that nobody looks at. */
  heldStreamCpuRatio: 1.25,
  heldStreamMemoryRatio: 1.3,
  toolCallCpuRatio: 2,
  toolStreamCpuRatio: 1.3,
  toolListCpuRatio: 2.5,
  /** At 500 calls a second. */
  addedToolP50Ms: 0.5,
  addedToolP99Ms: 3,
  /** Two patterns on 2 kB of a call's arguments. */
  toolPatternsUs: 60,
  /** Of 10,000 sessions that nobody uses, MB. */
  idleSessionsMb: 20,
  /** Of the bare proxy's, for each of 2,000. */
  openToolStreamRatio: 1.5,
  agentCpuRatio: 2,
  agentStreamCpuRatio: 1.3,
  /** Of the bare relay's. */
  sessionFrameCpuRatio: 1.3,
  sessionMemoryRatio: 1.5,
  /** At 200 sessions that say 50 frames a second each. */
  addedFrameP50Ms: 0.3,
  addedFrameP99Ms: 2,
  retrieveCpuRatio: 2,
  /** Of an owner that this gateway noted itself. */
  ownerLookUpUs: 20,
  adminPageMs: 200,
  semanticLookUpMs: 5,
  /** Over an upstream that answers at once. */
  batchLinesPerSecond: 500,
  /** Of 1 GB, up and down. */
  largeFileMb: 50,
} as const;
