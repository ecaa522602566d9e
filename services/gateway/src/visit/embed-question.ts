import { operations } from '@sluice/contracts';
import { compileConfig, type EmbeddingRule, type ResolvedTarget } from '@sluice/engine';
import { SettingsError } from '@sluice/env';
import { GatewayError } from '@sluice/errors';
import { CheckError } from '@sluice/guardrails';
import { findProvider, type JsonValue } from '@sluice/providers';
import { type Logger, Outage, reasonOf } from '@sluice/telemetry';
import type { CallModel } from '../calls/call-model.ts';
import { type ModelExchange, openExchange } from '../exchange/exchange.ts';
import { modelCall } from '../exchange/subject.ts';
import type { Target } from '../exchange/target.ts';
import { abortReason, untilAborted } from '../http/caller-gone.ts';
import { readCallerHeaders } from '../http/caller-headers.ts';
import { jsonObjectIn } from '../http/json-body.ts';
import { resolveTarget } from './targets/resolve-target.ts';

export interface EmbedOptions {
  /** Whom the operator names for configs that name nobody. */
  provider: string | undefined;
  model: string | undefined;
  apiKey: string | undefined;
  url: string | undefined;
  dimensions: number;
  timeoutMs: number;
}

export interface EmbedParts {
  callModel: CallModel;
  logger: Logger;
  onEmbedded: (came: Embedded) => void;
  /** Unix ms. */
  now?: () => number;
}

export const embedded = ['made', 'late', 'failed', 'resting'] as const;
/** What asking for a vector came to; `resting`: nobody was asked, since the last ones failed. */
export type Embedded = (typeof embedded)[number];

/** For whom a vector is made, as the record says. */
export type AskedBy = 'cache' | 'guardrail';

export interface Asking {
  readonly askedBy: AskedBy;
  /** Of whoever asks: nothing is waited for behind it. */
  readonly signal?: AbortSignal;
}

/** Who makes vectors. */
export interface Embedder {
  /** Vectors of embedders with different names are not compared. */
  readonly name: string;
  readonly planned: ResolvedTarget;
  readonly model: string;
}

/** After so many failures in a row nobody is asked for a while: each would wait for nothing. */
const failuresMax = 3;
const restMs = 10_000;
const workspacesMax = 10_000;

/** Of one account, since its last vector. */
interface Failures {
  count: number;
  /** Nobody is asked until then, and one question alone after that finds out. */
  restsUntilMs: number;
  readonly outage: Outage;
}

/** Asks an embedding model how a question lies among others, on the account of whoever asks the question. */
export class QuestionEmbedder {
  readonly #options: EmbedOptions;
  readonly #parts: EmbedParts;
  readonly #now: () => number;
  readonly #default: Embedder | undefined;
  readonly #named = new WeakMap<EmbeddingRule, Embedder>();
  /** Accounts whose model wants to decide itself how many numbers it tells: of nobody else's provider of that name. */
  readonly #fixed = new Set<string>();
  readonly #failures = new Map<string, Failures>();

  /** @throws Error for an operator's embedder that nobody knows */
  constructor(options: EmbedOptions, parts: EmbedParts) {
    this.#options = options;
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
    this.#default = operatorsEmbedder(options);
  }

  /** @throws GatewayError `config.invalid` where nobody is named at all */
  embedderOf(rule: EmbeddingRule | undefined, path: string): Embedder {
    if (rule === undefined) {
      if (this.#default !== undefined) return this.#default;
      const field = `${path}.cache.embedding`;
      throw new GatewayError('config.invalid', {
        field,
        message: `${field} must name who makes vectors of questions: the operator of this gateway has not named anybody.`,
      });
    }
    let embedder = this.#named.get(rule);
    if (embedder === undefined) {
      embedder = savedEmbedder(rule, this.#options.dimensions);
      this.#named.set(rule, embedder);
    }
    return embedder;
  }

  /** A vector of length 1; undefined = there is none in time, and why is counted. */
  async embed(
    exchange: ModelExchange,
    embedder: Embedder,
    text: string,
    { askedBy, signal: waiting }: Asking = { askedBy: 'cache' },
  ): Promise<Float32Array | undefined> {
    // A check with little time finds out nothing for the cache.
    const account = `${askedBy}|${accountOf(exchange, embedder)}`;
    // Checks that could not decide are counted as such.
    const onEmbedded = askedBy === 'cache' ? this.#parts.onEmbedded : nobodyCounts;
    if (this.#rests(account)) {
      onEmbedded('resting');
      return undefined;
    }
    const { timeoutMs } = this.#options;
    const left = AbortSignal.any([exchange.arrival.signal, ...(waiting ? [waiting] : [])]);
    const late = () =>
      new GatewayError('upstream.timeout', {
        message: `The embedding model told no vector within ${isCheckDeadline(left) ? "the check's time" : `${timeoutMs} ms`}.`,
      });
    const ending = new AbortController();
    // The call's record has why it was ended: a model that is slow is no caller who left.
    const leave = () => ending.abort(isCheckDeadline(left) ? late() : left.reason);
    if (left.aborted) leave();
    left.addEventListener('abort', leave, { once: true });
    const timer = setTimeout(() => ending.abort(late()), timeoutMs);
    const { signal } = ending;
    try {
      const vector = await untilAborted(
        this.#ask(exchange, embedder, text, signal, askedBy),
        signal,
      );
      this.#failures.get(account)?.outage.ends();
      this.#failures.delete(account);
      onEmbedded('made');
      return vector;
    } catch (caught) {
      const isLate = signal.aborted && abortReason(signal).code === 'upstream.timeout';
      if (left.aborted && !isLate) return undefined;
      this.#noteFailure(account, exchange, embedder, caught);
      onEmbedded(isLate ? 'late' : 'failed');
      return undefined;
    } finally {
      clearTimeout(timer);
      left.removeEventListener('abort', leave);
    }
  }

  async #ask(
    exchange: ModelExchange,
    embedder: Embedder,
    text: string,
    signal: AbortSignal,
    askedBy: AskedBy,
  ): Promise<Float32Array> {
    const asking = quietExchange(exchange, embedder, signal, askedBy);
    const target = resolveTarget(asking, embedder.planned);
    const { dimensions } = this.#options;
    const ask = (size: { dimensions?: number }) =>
      this.#parts.callModel(asking, target, questionOf(target, text, size), signal);
    const account = accountOf(exchange, embedder);
    const isFixed = this.#fixed.has(account);
    let reply = await ask(isFixed ? {} : { dimensions });
    if (!isFixed && (reply.status === 400 || reply.status === 422)) {
      // Many models take no number of dimensions.
      reply = await ask({});
      if (this.#fixed.size >= workspacesMax) this.#fixed.clear();
      if (reply.status === 200) this.#fixed.add(account);
    }
    if (reply.status !== 200) throw new Error(`the embedding model answered ${reply.status}`);
    return readVector(reply.body, dimensions);
  }

  #rests(account: string): boolean {
    const failed = this.#failures.get(account);
    if (failed === undefined || failed.count < failuresMax) return false;
    if (failed.restsUntilMs > this.#now()) return true;
    // Whoever comes while this one finds out goes on without.
    failed.restsUntilMs = this.#now() + restMs;
    return false;
  }

  /** The log has those in a row that make it rest, once: single ones are in records. */
  #noteFailure(
    account: string,
    exchange: ModelExchange,
    embedder: Embedder,
    caught: unknown,
  ): void {
    let failed = this.#failures.get(account);
    if (failed === undefined) {
      if (this.#failures.size >= workspacesMax) this.#failures.clear();
      failed = { count: 0, restsUntilMs: 0, outage: this.#outageOf(exchange, embedder) };
      this.#failures.set(account, failed);
    }
    failed.count += 1;
    if (failed.count < failuresMax) return;
    failed.restsUntilMs = this.#now() + restMs;
    failed.outage.begins(reasonOf(caught));
  }

  #outageOf({ bundle }: ModelExchange, { name }: Embedder): Outage {
    return new Outage({
      logger: this.#parts.logger,
      away: 'an embedding model makes no vectors: questions are not compared, checks that need one cannot decide',
      back: 'an embedding model makes vectors again',
      facts: { workspace_id: bundle?.source.workspaceId ?? '', embedder: name },
    });
  }
}

const nobodyCounts = () => {};

/** The time of a check was over: another end of it says nothing of the model. */
function isCheckDeadline({ reason }: AbortSignal): boolean {
  return reason instanceof CheckError && reason.name === 'DeadlineExceeded';
}

function accountOf({ bundle }: ModelExchange, { name }: Embedder): string {
  return `${bundle?.source.workspaceId ?? ''}|${name}`;
}

function operatorsEmbedder({
  provider,
  model,
  apiKey,
  url,
  dimensions,
}: EmbedOptions): Embedder | undefined {
  if (provider === undefined) return undefined;
  if (model === undefined)
    throw new SettingsError([
      'SEMANTIC_CACHE_EMBEDDING_MODEL is required beside …_EMBEDDING_PROVIDER',
    ]);
  if (provider.startsWith('@')) return savedEmbedder({ provider, model }, dimensions);
  if (findProvider(provider) === undefined)
    throw new SettingsError([
      `SEMANTIC_CACHE_EMBEDDING_PROVIDER names "${provider}", which is not known`,
    ]);
  // Of a document that is saved, all words are an administrator's.
  const { targets } = compileConfig({ provider, api_key: apiKey, custom_host: url }, { slug: '' });
  return embedderAt(targets[0], `${provider}|${url ?? ''}|${model}|${dimensions}`, model);
}

/** It adds nothing to what is saved of the provider, so it does not matter whose word it is. */
function savedEmbedder({ provider, model }: EmbeddingRule, dimensions: number): Embedder {
  const { targets } = compileConfig({ provider });
  return embedderAt(targets[0], `${provider}|${model}|${dimensions}`, model);
}

function embedderAt(planned: ResolvedTarget | undefined, name: string, model: string): Embedder {
  if (planned === undefined) throw new Error('a config without targets is one');
  return { name, model, planned: { ...planned, path: 'cache.embedding' } };
}

/** The same caller with another question: nothing of the request's own headers counts. */
function quietExchange(
  { arrival, key, bundle, metadata, limits, isSavedOnly }: ModelExchange,
  { model }: Embedder,
  signal: AbortSignal,
  askedBy: AskedBy,
): ModelExchange {
  const subject = modelCall(operations.embed, '/v1/embeddings', '');
  subject.model = model;
  const exchange = openExchange({ ...arrival, headers: {}, caller: nothingSaid, signal }, subject);
  exchange.key = key;
  exchange.bundle = bundle;
  exchange.metadata = metadata;
  exchange.limits = limits;
  exchange.isSavedOnly = isSavedOnly;
  exchange.decisionJson = `{"asked_by":"${askedBy}"}`;
  return exchange;
}

const nothingSaid = readCallerHeaders({});

function questionOf({ model }: Target, text: string, size: { dimensions?: number }) {
  return { endpoint: 'embed', json: { model, input: text, ...size } } as const;
}

/** @throws Error for what is no vector of this many numbers */
function readVector(body: Buffer, dimensions: number): Float32Array {
  const data = jsonObjectIn(body)?.data;
  const [first] = Array.isArray(data) ? data : [];
  const numbers =
    typeof first === 'object' && first !== null && !Array.isArray(first)
      ? numbersIn(first.embedding)
      : undefined;
  if (numbers?.length !== dimensions)
    throw new Error(
      `the embedding model told ${numbers?.length ?? 'no'} numbers, not ${dimensions}`,
    );
  const length = Math.hypot(...numbers);
  if (!Number.isFinite(length) || length === 0)
    throw new Error('the embedding model told a vector without a direction');
  return numbers.map((value) => value / length);
}

function numbersIn(embedding: JsonValue | undefined): Float32Array | undefined {
  if (!Array.isArray(embedding)) return undefined;
  return Float32Array.from(embedding, (value) => (typeof value === 'number' ? value : Number.NaN));
}
