import type {
  Choice,
  CompiledConfig,
  PastRequest,
  PastVisit,
  ResolvedTarget,
} from '@sluice/engine';
import { usage } from '@sluice/proto-stubs';
import { uuidText } from '@sluice/usage';

const { Outcome } = usage;

/** A request as its attempts tell of it, the attempts at one target together. */
export interface LoggedRequest {
  readonly past: PastRequest;
  /** Of each visit its attempts; what was refused without a call has one, too. */
  readonly attempts: ReadonlyMap<PastVisit, readonly usage.UsageRecord[]>;
  readonly last: usage.UsageRecord;
  /** Nobody can say what its targets came to. */
  readonly isUnclear: boolean;
}

/**
 * @param records every attempt of the request
 * @param then the config that held; undefined = nobody knows
 */
export function pastRequestOf(
  records: readonly usage.UsageRecord[],
  then: CompiledConfig | undefined,
): LoggedRequest {
  const sorted = records.toSorted((one, other) => Buffer.compare(one.id, other.id));
  const byEntry = new Map<string, usage.UsageRecord[]>();
  for (const record of sorted) {
    const id = uuidText(record.entryId.length === 0 ? record.id : record.entryId);
    const entry = byEntry.get(id);
    if (entry === undefined) byEntry.set(id, [record]);
    else entry.push(record);
  }
  const attempts = new Map([...byEntry.values()].map((entry) => [visitOf(entry), entry]));
  const first = sorted[0]!;
  const last = sorted.at(-1)!;
  const target = then?.targets.find(({ path }) => path === last.optionPath);
  const atMs = Number(first.createdAtMs);
  const model = target === undefined ? undefined : modelOf(target, last);
  const past: PastRequest = {
    atMs,
    endedAtMs: atMs + Math.max(...sorted.map(({ latencyMs }) => latencyMs)),
    request: {
      organisationId: first.organisationId,
      workspaceId: first.workspaceId,
      workspaceSlug: first.workspaceSlug,
      apiKeyId: first.apiKeyId,
      apiKeySlug: '',
      endpoint: first.endpoint,
      metadata: first.metadata,
      configSlug: first.configSlug === '' ? undefined : first.configSlug,
      promptSlug: first.promptSlug === '' ? undefined : first.promptSlug,
    },
    facts: {
      metadata: first.metadata,
      params: model === undefined ? {} : { model },
      headers: {},
      pathname: first.requestUrl,
      scope: '',
    },
    knowsParams: false,
    knowsHeaders: false,
    withheldHeaders: nobody,
    provider: target === undefined ? undefined : providerOf(target, last),
    choices: choicesIn(first.decisionJson),
    visits: [...attempts.keys()],
    tokens: tokensOf(answerOf(sorted)),
    wasRefused: sorted.every(isRefusal),
  };
  return {
    past,
    attempts,
    last,
    isUnclear: sorted.some(
      ({ outcome, decisionJson }) => outcome === Outcome.LOST || decisionJson.includes('"parts":'),
    ),
  };
}

const nobody: ReadonlySet<string> = new Set();

function visitOf(entry: readonly usage.UsageRecord[]): PastVisit {
  const last = entry.at(-1)!;
  return {
    target: {
      provider: last.provider,
      providerSlug: last.providerSlug === '' ? undefined : last.providerSlug,
      model: last.model,
    },
    path: last.optionPath,
    status: last.statusCode,
    isCacheHit: last.cacheType !== '',
    tokens: entry.reduce((sum, record) => sum + tokensOf(record), 0),
    costNanoUsd: entry.reduce<number | undefined>((sum, record) => {
      const cost = costOf(record);
      return sum === undefined || cost === undefined ? undefined : sum + cost;
    }, 0),
  };
}

/** What was charged; undefined = something was used, and its price is not known. */
export function costOf(record: usage.UsageRecord): number | undefined {
  if (record.costKnown) return Number(record.costNanoUsd);
  return record.usageReported || record.usageEstimated ? undefined : 0;
}

function tokensOf(record: usage.UsageRecord | undefined): number {
  return record === undefined ? 0 : Number(record.inputTokens + record.outputTokens);
}

/** The attempt whose use another target is taken to have had. */
export function answerOf(records: readonly usage.UsageRecord[]): usage.UsageRecord | undefined {
  return records.findLast(
    ({ outcome, cacheType }) => outcome === Outcome.SUCCESS && cacheType === '',
  );
}

/** Limits, lists and credentials; what a check of the content denied was looked at. */
function isRefusal({ outcome, statusCode, provider }: usage.UsageRecord): boolean {
  if (provider === '') return true;
  return outcome === Outcome.DENIED && statusCode !== deniedByCheck;
}

const deniedByCheck = 446;

/** As the body named it, where the target left it to the body. */
function modelOf(target: ResolvedTarget, { model }: usage.UsageRecord): string | undefined {
  const { provider, overrideParams, defaultParams } = target;
  const isSet =
    typeof overrideParams?.model === 'string' ||
    defaultParams?.model === model ||
    (provider?.startsWith('@') === true && provider.includes('/'));
  return isSet || model === '' ? undefined : model;
}

function providerOf(target: ResolvedTarget, record: usage.UsageRecord): string | undefined {
  const { provider, overrideParams } = target;
  const override = overrideParams?.model;
  if (provider !== undefined || (typeof override === 'string' && override.startsWith('@')))
    return undefined;
  if (record.provider === '') return undefined;
  return record.providerSlug === '' ? record.provider : `@${record.providerSlug}`;
}

const known = new Map<string, ReadonlyMap<string, Choice>>();
const knownMax = 500;

/** Decisions of a config that asks nothing of requests are the same text again and again. */
function choicesIn(decisionJson: string): ReadonlyMap<string, Choice> {
  const before = known.get(decisionJson);
  if (before !== undefined) return before;
  const choices = readChoices(decisionJson);
  if (known.size < knownMax) known.set(decisionJson, choices);
  return choices;
}

function readChoices(decisionJson: string): ReadonlyMap<string, Choice> {
  try {
    const { choices = [] } = JSON.parse(decisionJson) as { choices?: Choice[] };
    return new Map(choices.map((choice) => [choice.path, choice]));
  } catch {
    return new Map();
  }
}
