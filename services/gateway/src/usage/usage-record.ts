/**
 * One attempt as the ledger keeps it. Field meanings stand in
 * proto/sluice/usage/v1/usage.proto; a test holds the two together.
 */
export interface UsageRecord {
  id: Buffer;
  requestId: Buffer;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  spanName: string;
  replicaId: string;
  sequence: number;
  createdAtMs: number;
  organisationId: string;
  workspaceId: string;
  workspaceSlug: string;
  apiKeyId: string;
  userId: string;
  method: string;
  requestUrl: string;
  endpoint: string;
  isProxyCall: boolean;
  stream: boolean;
  provider: string;
  providerSlug: string;
  model: string;
  responseModel: string;
  configId: string;
  configSlug: string;
  configVersionId: string;
  bundleHash: string;
  optionPath: string;
  strategyMode: string;
  attempt: number;
  retryCount: number;
  cacheStatus: string;
  outcome: number;
  statusCode: number;
  errorCode: string;
  finishReason: string;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  cacheWrite1hTokens: number;
  reasoningTokens: number;
  inputAudioTokens: number;
  outputAudioTokens: number;
  usageReported: boolean;
  costNanoUsd: number;
  inputCostNanoUsd: number;
  outputCostNanoUsd: number;
  costKnown: boolean;
  priceBookVersion: string;
  priceLayer: string;
  images: number;
  searchUnits: number;
  pages: number;
  audioSeconds: number;
  characters: number;
  latencyMs: number;
  timeToFirstByteMs: number;
  gatewayMs: number;
  metadata: Readonly<Record<string, string>>;
  decisionJson: string;
}
