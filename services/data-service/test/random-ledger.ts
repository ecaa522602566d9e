import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { encodeEntry } from '@sluice/usage';
import { dayMs, encodedRecord } from './usage-records.ts';

const { Outcome } = usage;

/** An attempt, as far as figures depend on it. */
export interface Attempt {
  id: Buffer;
  requestId: Buffer;
  entryId: Buffer;
  at: number;
  workspaceId: string;
  apiKeyId: string;
  userId: string;
  traceId: string;
  spanId: string;
  provider: string;
  providerSlug: string;
  model: string;
  configId: string;
  configSlug: string;
  promptSlug: string;
  endpoint: string;
  capabilityName: string;
  metadata: Record<string, string>;
  outcome: usage.Outcome;
  /** Its place in the config; calls of tools have none. */
  optionPath: string;
  statusCode: number;
  errorCode: string;
  retryCount: number;
  cacheStatus: string;
  cacheType: string;
  inputTokens: number;
  outputTokens: number;
  costNanoUsd: number;
  costKnown: boolean;
  avoidedCostNanoUsd: number;
  entryMs: number;
  latencyMs: number;
}

export interface Adjustment {
  recordId: Buffer;
  at: number;
  workspaceId: string;
  costNanoUsd: number;
  makesKnown: boolean;
}

export interface Judgement {
  id: Buffer;
  workspaceId: string;
  traceId: string;
  value: number;
  weight: number;
}

/** What happened, and all that the ledger is told of it, some of it twice, and in any order. */
export interface RandomLedger {
  readonly attempts: readonly Attempt[];
  readonly adjustments: readonly Adjustment[];
  readonly judgements: readonly Judgement[];
  readonly written: readonly Written[];
}

/** An entry, and the request or the feedback that it tells of. */
export interface Written {
  readonly entry: Uint8Array;
  readonly of: Buffer;
}

export const spanMs = 26 * 3_600_000;

/** The same for the same seed. */
export function randomLedger(organisationId: string, rows: number, seed: number): RandomLedger {
  const random = randomNumbers(seed);
  const below = (count: number) => Math.floor(random() * count);
  const pick = <T>(values: readonly T[]): T => values[below(values.length)]!;
  let made = 0;
  const newId = (at: number) => {
    made += 1;
    const id = Buffer.alloc(16);
    id.writeUIntBE(at, 0, 6);
    id.writeUInt32BE(made, 8);
    // Begins later, sorts anywhere.
    id.writeUInt32BE(below(2 ** 32), 12);
    id.writeUInt16BE(0x7000 + (made & 0xfff), 6);
    return id;
  };

  const attempts: Attempt[] = [];
  const judgements: Judgement[] = [];
  const adjustments: Adjustment[] = [];
  const written: Written[] = [];
  const attemptOf = (requestId: Buffer, at: number, some: Partial<Attempt>): Attempt => {
    const isFree = some.cacheStatus === 'HIT';
    const id = newId(at + (made % 50));
    return {
      id,
      requestId,
      entryId: id,
      at,
      workspaceId: 'ws-1',
      apiKeyId: '',
      userId: '',
      traceId: '',
      spanId: '',
      provider: 'openai',
      providerSlug: '',
      model: 'gpt-4o',
      configId: '',
      configSlug: '',
      promptSlug: '',
      endpoint: 'chatComplete',
      capabilityName: '',
      optionPath: 'config',
      metadata: {},
      outcome: Outcome.SUCCESS,
      statusCode: 200,
      errorCode: '',
      retryCount: 0,
      cacheStatus: 'DISABLED',
      cacheType: '',
      inputTokens: below(3000),
      outputTokens: below(5) === 0 ? 0 : below(1000),
      costNanoUsd: isFree ? 0 : below(50_000_000),
      costKnown: below(10) > 0,
      avoidedCostNanoUsd: 0,
      entryMs: below(20) === 0 ? 0 : Math.round(10 ** (random() * 5) * 1000) / 1000,
      latencyMs: Math.round(10 ** (random() * 5) * 1000) / 1000,
      ...some,
    };
  };
  const failures = [
    { outcome: Outcome.UPSTREAM_ERROR, statusCode: 429 },
    { outcome: Outcome.UPSTREAM_ERROR, statusCode: 500 },
    { outcome: Outcome.UPSTREAM_FAILURE, statusCode: 502 },
    { outcome: Outcome.DENIED, statusCode: 446, inputTokens: 0, outputTokens: 0 },
    { outcome: Outcome.LOST, statusCode: 0 },
  ];
  const endings = [...Array(12).fill({}), { statusCode: 246 }, ...failures];

  while (attempts.length < rows) {
    // The first and the last millisecond of the day are both within it.
    const at = dayMs - 3_600_000 + pick([below(spanMs), below(spanMs), 3_600_000, 90_000_000 - 1]);
    const requestId = newId(at);
    const user = below(40);
    const target = () =>
      pick([
        { provider: 'openai', providerSlug: 'main', model: 'gpt-4o' },
        { provider: 'openai', providerSlug: 'main', model: 'gpt-4o-mini' },
        { provider: 'anthropic', providerSlug: 'other', model: 'claude-sonnet-4-5' },
        { provider: 'ollama', providerSlug: '', model: '' },
      ]);
    const common = {
      workspaceId: pick(['ws-1', 'ws-1', 'ws-2']),
      apiKeyId: `key-${below(5)}`,
      userId: pick(['', 'person-1', 'person-2']),
      traceId: pick(['', `trace-${below(rows / 5)}`, `trace-${below(rows / 5)}`]),
      spanId: pick(['', `span-${below(20)}`]),
      configId: pick(['', 'c-1']),
      configSlug: pick(['', 'pc-1', 'pc-2']),
      endpoint: pick(['chatComplete', 'mcp:tool_call']),
      metadata: {
        ...(user < 30 ? { _user: `user ' ${user}` } : {}),
        ...(below(2) === 0 ? { team: pick(['red', 'blue', '', 'gré\n']) } : {}),
      },
    };
    const visit = (ending: Partial<Attempt>, retries: number, optionPath = 'config') => {
      const asked = {
        ...common,
        optionPath,
        ...target(),
        promptSlug: pick(['', 'pp-1']),
        capabilityName: pick(['', 'forecast', 'rain']),
      };
      let first: Buffer | undefined;
      for (let retry = 0; retry <= retries; retry += 1) {
        const end = retry < retries ? pick(failures.slice(0, 3)) : ending;
        const attempt = attemptOf(requestId, at, { ...asked, ...end, retryCount: retry });
        first ??= attempt.id;
        attempts.push({ ...attempt, entryId: first });
        // A second call that was cancelled for the first.
        if (below(60) === 0)
          attempts.push({
            ...attemptOf(requestId, at, {
              ...asked,
              statusCode: 499,
              errorCode: 'request.superseded',
              retryCount: retry,
            }),
            entryId: first,
          });
      }
    };
    const kind = below(20);
    if (kind === 0) {
      visit(pick([...failures, { statusCode: 246 }]), below(3), 'config.targets[0]');
      if (below(3) === 0) visit(pick(endings), 0, '');
      visit(pick(endings), below(2), 'config.targets[1]');
      if (below(3) === 0) visit(pick(endings), 0, '');
      if (below(3) === 0) visit(pick(endings), 0, 'config.targets[0]');
    } else if (kind === 1) visit(pick(endings), 1 + below(3));
    else if (kind < 5) {
      const cacheType = pick(['simple', 'semantic', '']);
      visit({ cacheStatus: 'HIT', cacheType, avoidedCostNanoUsd: below(9_000_000) }, 0);
    } else visit({ ...pick(endings), cacheStatus: pick(['DISABLED', 'MISS']) }, 0);
  }

  for (const attempt of attempts) {
    const init = { organisationId, ...recordOf(attempt) };
    const record = encodedRecord(init);
    const write = (entry: Uint8Array) => written.push({ entry, of: attempt.requestId });
    if (attempt.outcome !== Outcome.LOST && below(30) === 0)
      write(
        encodedRecord({
          ...init,
          outcome: Outcome.LOST,
          statusCode: 0,
          inputTokens: 7n,
          outputTokens: 0n,
        }),
      );
    write(record);
    if (below(10) === 0) write(record);
    for (let more = below(40) === 0 ? 1 + below(2) : 0; more > 0; more -= 1) {
      const adjustment = {
        recordId: attempt.id,
        at: attempt.at,
        workspaceId: attempt.workspaceId,
        costNanoUsd: below(4_000_000) - 1_000_000,
        makesKnown: !attempt.costKnown,
      };
      adjustments.push(adjustment);
      write(encodedAdjustment(organisationId, newId(attempt.at), adjustment));
    }
  }
  for (let given = 0; given < rows / 20; given += 1) {
    const judgement: Judgement = {
      id: newId(dayMs),
      workspaceId: pick(['ws-1', 'ws-2']),
      traceId: `trace-${below(rows / 5)}`,
      value: below(21) - 10,
      weight: pick([0, 0.25, 0.5, 1]),
    };
    judgements.push(judgement);
    const told = (value: number, changedAt: number) =>
      written.push({
        entry: encodedFeedback(organisationId, { ...judgement, value }, changedAt),
        of: judgement.id,
      });
    // What it was before comes before or after what it is.
    if (below(4) === 0) told(below(21) - 10, dayMs);
    told(judgement.value, dayMs + 5);
    if (below(4) === 0) told(below(21) - 10, dayMs + 1);
  }
  return { attempts, adjustments, judgements, written: shuffled(written, random) };
}

/** Whether something was used that has no price. */
export function lacksPrice({ inputTokens }: Attempt): boolean {
  return inputTokens % 11 === 5;
}

function recordOf(attempt: Attempt): MessageInitShape<typeof usage.UsageRecordSchema> {
  return {
    ...attempt,
    unpricedUnits: lacksPrice(attempt) ? 'code_execution' : '',
    createdAtMs: BigInt(attempt.at),
    inputTokens: BigInt(attempt.inputTokens),
    outputTokens: BigInt(attempt.outputTokens),
    costNanoUsd: BigInt(attempt.costNanoUsd),
    avoidedCostNanoUsd: BigInt(attempt.avoidedCostNanoUsd),
  };
}

function encodedAdjustment(organisationId: string, id: Buffer, some: Adjustment): Uint8Array {
  const body = create(usage.AdjustmentSchema, {
    id,
    organisationId,
    recordId: some.recordId,
    workspaceId: some.workspaceId,
    attemptCreatedAtMs: BigInt(some.at),
    createdAtMs: BigInt(some.at + 86_400_000),
    costNanoUsd: BigInt(some.costNanoUsd),
    makesKnown: some.makesKnown,
    reason: 'reprice',
  });
  return encodeEntry(usage.EntryKind.ADJUSTMENT, toBinary(usage.AdjustmentSchema, body));
}

function encodedFeedback(organisationId: string, some: Judgement, changedAt: number): Uint8Array {
  const body = create(usage.FeedbackSchema, {
    ...some,
    organisationId,
    createdAtMs: BigInt(dayMs),
    changedAtMs: BigInt(changedAt),
  });
  return encodeEntry(usage.EntryKind.FEEDBACK, toBinary(usage.FeedbackSchema, body));
}

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  const all = [...values];
  for (let last = all.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [all[last], all[other]] = [all[other]!, all[last]!];
  }
  return all;
}

/** Numbers from 0 to 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
