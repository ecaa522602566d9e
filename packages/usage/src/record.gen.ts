// Written by `npm run generate` from proto/sluice/usage/v1/usage.proto, never by hand.
import { type Counts, ProtoWriter } from './proto-writer.ts';

/** One attempt as the ledger keeps it. What the fields mean stands in the proto. */
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
  serviceTier: string;
  servedRegion: string;
  units: Counts;
  imagesByKind: Counts;
  cacheReadAudioTokens: number;
  inputImageTokens: number;
  outputImageTokens: number;
  priceMultiplier: number;
  providerCostNanoUsd: number;
  providerCostKnown: boolean;
  avoidedCostNanoUsd: number;
  usageEstimated: boolean;
  usageImplausible: boolean;
  countersReserved: Counts;
  countersSettled: Counts;
  wouldHaveRefused: readonly string[];
  limitsDegraded: boolean;
  entryId: Buffer;
  attemptMs: number;
  entryMs: number;
  requestParsingMs: number;
  preProcessingMs: number;
  cacheProcessingMs: number;
  responseParsingMs: number;
  promptId: string;
  promptSlug: string;
  promptVersionId: string;
  cacheType: string;
  source: string;
  runtime: string;
  runtimeVersion: string;
  sdkVersion: string;
  failureCause: string;
  logFormat: string;
  gatewayVersion: string;
  rpcMethod: string;
  rpcId: string;
  capabilityName: string;
  toolFailed: boolean;
  toolError: string;
  rpcErrorCode: number;
  upstreamStatus: number;
  sessionId: string;
  protocolVersion: string;
  upstreamProtocolVersion: string;
  transportClient: string;
  transportUpstream: string;
  authType: string;
  upstreamTokenRefreshed: boolean;
  taskId: string;
  contextId: string;
  taskState: string;
  usageMissing: boolean;
  unpricedUnits: string;
}

/** What is written once, when its attempt begins: see `RecordEncoder.opening`. */
type OpeningField =
  | 'id'
  | 'requestId'
  | 'traceId'
  | 'spanId'
  | 'parentSpanId'
  | 'spanName'
  | 'replicaId'
  | 'sequence'
  | 'createdAtMs'
  | 'organisationId'
  | 'workspaceId'
  | 'workspaceSlug'
  | 'apiKeyId'
  | 'userId'
  | 'method'
  | 'requestUrl'
  | 'endpoint'
  | 'isProxyCall'
  | 'stream'
  | 'provider'
  | 'providerSlug'
  | 'model'
  | 'configId'
  | 'configSlug'
  | 'configVersionId'
  | 'bundleHash'
  | 'optionPath'
  | 'strategyMode'
  | 'attempt'
  | 'retryCount'
  | 'cacheStatus'
  | 'metadata'
  | 'entryId'
  | 'requestParsingMs'
  | 'preProcessingMs'
  | 'cacheProcessingMs'
  | 'promptId'
  | 'promptSlug'
  | 'promptVersionId'
  | 'source'
  | 'runtime'
  | 'runtimeVersion'
  | 'sdkVersion'
  | 'gatewayVersion'
  | 'rpcMethod'
  | 'rpcId'
  | 'capabilityName'
  | 'transportClient'
  | 'authType';

/** A record whose begin is written: what that says stands. */
export type BegunRecord = Readonly<Pick<UsageRecord, OpeningField>> &
  Omit<UsageRecord, OpeningField>;

const noBytes = Buffer.alloc(0);
const noTexts: UsageRecord['metadata'] = Object.freeze({});
const noCounts: Counts = new Map();
const noList: readonly string[] = Object.freeze([]);

export function emptyRecord(): UsageRecord {
  return {
    id: noBytes,
    requestId: noBytes,
    traceId: '',
    spanId: '',
    parentSpanId: '',
    spanName: '',
    replicaId: '',
    sequence: 0,
    createdAtMs: 0,
    organisationId: '',
    workspaceId: '',
    workspaceSlug: '',
    apiKeyId: '',
    userId: '',
    method: '',
    requestUrl: '',
    endpoint: '',
    isProxyCall: false,
    stream: false,
    provider: '',
    providerSlug: '',
    model: '',
    responseModel: '',
    configId: '',
    configSlug: '',
    configVersionId: '',
    bundleHash: '',
    optionPath: '',
    strategyMode: '',
    attempt: 0,
    retryCount: 0,
    cacheStatus: '',
    outcome: 0,
    statusCode: 0,
    errorCode: '',
    finishReason: '',
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    reasoningTokens: 0,
    inputAudioTokens: 0,
    outputAudioTokens: 0,
    usageReported: false,
    costNanoUsd: 0,
    inputCostNanoUsd: 0,
    outputCostNanoUsd: 0,
    costKnown: false,
    priceBookVersion: '',
    priceLayer: '',
    images: 0,
    searchUnits: 0,
    pages: 0,
    audioSeconds: 0,
    characters: 0,
    latencyMs: 0,
    timeToFirstByteMs: 0,
    gatewayMs: 0,
    metadata: noTexts,
    decisionJson: '',
    serviceTier: '',
    servedRegion: '',
    units: noCounts,
    imagesByKind: noCounts,
    cacheReadAudioTokens: 0,
    inputImageTokens: 0,
    outputImageTokens: 0,
    priceMultiplier: 0,
    providerCostNanoUsd: 0,
    providerCostKnown: false,
    avoidedCostNanoUsd: 0,
    usageEstimated: false,
    usageImplausible: false,
    countersReserved: noCounts,
    countersSettled: noCounts,
    wouldHaveRefused: noList,
    limitsDegraded: false,
    entryId: noBytes,
    attemptMs: 0,
    entryMs: 0,
    requestParsingMs: 0,
    preProcessingMs: 0,
    cacheProcessingMs: 0,
    responseParsingMs: 0,
    promptId: '',
    promptSlug: '',
    promptVersionId: '',
    cacheType: '',
    source: '',
    runtime: '',
    runtimeVersion: '',
    sdkVersion: '',
    failureCause: '',
    logFormat: '',
    gatewayVersion: '',
    rpcMethod: '',
    rpcId: '',
    capabilityName: '',
    toolFailed: false,
    toolError: '',
    rpcErrorCode: 0,
    upstreamStatus: 0,
    sessionId: '',
    protocolVersion: '',
    upstreamProtocolVersion: '',
    transportClient: '',
    transportUpstream: '',
    authType: '',
    upstreamTokenRefreshed: false,
    taskId: '',
    contextId: '',
    taskState: '',
    usageMissing: false,
    unpricedUnits: '',
  };
}

export class RecordEncoder {
  readonly #out = new ProtoWriter();

  /**
   * The bytes are only valid until the next call.
   * @param opening of the same attempt: what it holds is not written again
   */
  encode(record: UsageRecord, opening?: Buffer): Buffer {
    const out = this.#out;
    out.reset();
    if (opening === undefined) this.#open(record);
    else out.encoded(opening);
    out.text(23, record.responseModel);
    out.uint(33, record.outcome);
    out.uint(34, record.statusCode);
    out.text(35, record.errorCode);
    out.text(36, record.finishReason);
    out.uint(40, record.inputTokens);
    out.uint(41, record.outputTokens);
    out.uint(42, record.cacheReadTokens);
    out.uint(43, record.cacheWriteTokens);
    out.uint(44, record.cacheWrite1hTokens);
    out.uint(45, record.reasoningTokens);
    out.uint(46, record.inputAudioTokens);
    out.uint(47, record.outputAudioTokens);
    out.bool(48, record.usageReported);
    out.sint(49, record.costNanoUsd);
    out.sint(50, record.inputCostNanoUsd);
    out.sint(51, record.outputCostNanoUsd);
    out.bool(52, record.costKnown);
    out.text(53, record.priceBookVersion);
    out.text(54, record.priceLayer);
    out.uint(55, record.images);
    out.uint(56, record.searchUnits);
    out.uint(57, record.pages);
    out.double(58, record.audioSeconds);
    out.uint(59, record.characters);
    out.double(60, record.latencyMs);
    out.double(61, record.timeToFirstByteMs);
    out.double(62, record.gatewayMs);
    out.text(71, record.decisionJson);
    out.text(72, record.serviceTier);
    out.text(73, record.servedRegion);
    out.counts(74, record.units);
    out.counts(75, record.imagesByKind);
    out.uint(76, record.cacheReadAudioTokens);
    out.uint(77, record.inputImageTokens);
    out.uint(78, record.outputImageTokens);
    out.double(79, record.priceMultiplier);
    out.sint(80, record.providerCostNanoUsd);
    out.bool(81, record.providerCostKnown);
    out.sint(82, record.avoidedCostNanoUsd);
    out.bool(83, record.usageEstimated);
    out.bool(84, record.usageImplausible);
    out.counts(85, record.countersReserved);
    out.counts(86, record.countersSettled);
    for (const value of record.wouldHaveRefused) out.text(87, value);
    out.bool(88, record.limitsDegraded);
    out.double(90, record.attemptMs);
    out.double(91, record.entryMs);
    out.double(95, record.responseParsingMs);
    out.text(99, record.cacheType);
    out.text(104, record.failureCause);
    out.text(105, record.logFormat);
    out.bool(110, record.toolFailed);
    out.text(111, record.toolError);
    out.sint(112, record.rpcErrorCode);
    out.uint(113, record.upstreamStatus);
    out.text(114, record.sessionId);
    out.text(115, record.protocolVersion);
    out.text(116, record.upstreamProtocolVersion);
    out.text(118, record.transportUpstream);
    out.bool(120, record.upstreamTokenRefreshed);
    out.text(121, record.taskId);
    out.text(122, record.contextId);
    out.text(123, record.taskState);
    out.bool(124, record.usageMissing);
    out.text(125, record.unpricedUnits);
    return out.written();
  }

  /** What stands when an attempt begins, to be given to `encode` for both of its entries. */
  opening(record: UsageRecord): Buffer {
    this.#out.reset();
    this.#open(record);
    return Buffer.from(this.#out.written());
  }

  #open(record: UsageRecord): void {
    const out = this.#out;
    out.bytes(1, record.id);
    out.bytes(2, record.requestId);
    out.text(3, record.traceId);
    out.text(4, record.spanId);
    out.text(5, record.parentSpanId);
    out.text(6, record.spanName);
    out.text(7, record.replicaId);
    out.uint(8, record.sequence);
    out.uint(9, record.createdAtMs);
    out.text(10, record.organisationId);
    out.text(11, record.workspaceId);
    out.text(12, record.workspaceSlug);
    out.text(13, record.apiKeyId);
    out.text(14, record.userId);
    out.text(15, record.method);
    out.text(16, record.requestUrl);
    out.text(17, record.endpoint);
    out.bool(18, record.isProxyCall);
    out.bool(19, record.stream);
    out.text(20, record.provider);
    out.text(21, record.providerSlug);
    out.text(22, record.model);
    out.text(24, record.configId);
    out.text(25, record.configSlug);
    out.text(26, record.configVersionId);
    out.text(27, record.bundleHash);
    out.text(28, record.optionPath);
    out.text(29, record.strategyMode);
    out.uint(30, record.attempt);
    out.sint(31, record.retryCount);
    out.text(32, record.cacheStatus);
    for (const key in record.metadata) out.pair(70, key, record.metadata[key] ?? '');
    out.bytes(89, record.entryId);
    out.double(92, record.requestParsingMs);
    out.double(93, record.preProcessingMs);
    out.double(94, record.cacheProcessingMs);
    out.text(96, record.promptId);
    out.text(97, record.promptSlug);
    out.text(98, record.promptVersionId);
    out.text(100, record.source);
    out.text(101, record.runtime);
    out.text(102, record.runtimeVersion);
    out.text(103, record.sdkVersion);
    out.text(106, record.gatewayVersion);
    out.text(107, record.rpcMethod);
    out.text(108, record.rpcId);
    out.text(109, record.capabilityName);
    out.text(117, record.transportClient);
    out.text(119, record.authType);
  }
}
