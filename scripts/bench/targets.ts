/** What Sluice's gateway is held to; the bare proxy and other gateways are shown beside it without a target. */
export const targets = {
  unaryCpuRatio: 2,
  streamCpuRatio: 1.15,
  translatedUnaryCpuRatio: 2.5,
  translatedStreamCpuRatio: 1.6,
  saturationRps: 8_000,
  addedLatencyP50Ms: 0.5,
  addedLatencyP99Ms: 2,
  addedFirstByteP50Ms: 1,
  rssIdleMb: 90,
  rssLoadedMb: 150,
  coldStartS: 0.7,
  planUs: 10,
  adminPageMs: 200,
} as const;
