import { operations } from '@sluice/contracts';
import { JsonError, jsonBounds, readJson } from '@sluice/json';
import type { Logger } from '@sluice/telemetry';
import type { SavedProvider } from '../compiled/compiled-bundle.ts';
import { type Exchange, type ModelExchange, openExchange } from '../exchange/exchange.ts';
import { discard, type Reply } from '../exchange/reply.ts';
import { modelCall } from '../exchange/subject.ts';
import { readCallerHeaders } from '../http/caller-headers.ts';

/** A model as its provider lists it. */
export interface UpstreamModel {
  readonly id: string;
  /** Unix s; 0 = the provider does not say. */
  readonly created: number;
}

export interface UpstreamModelsParts {
  /** Asks the provider that the exchange names, as for a caller. */
  readonly ask: (exchange: ModelExchange) => Promise<Reply>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly now?: () => number;
}

const freshMs = 10 * 60_000;
/** One that could not be had is asked for again after so long. */
const failedMs = 60_000;
const deadlineMs = 3_000;
const modelsMax = 2_000;
const idLengthMax = 256;
/** Providers that one list waits for. */
const asksMax = 16;

interface Kept {
  models: readonly UpstreamModel[];
  freshUntilMs: number;
  asking: Promise<void> | undefined;
}

/**
 * What providers list themselves, for those that allow every model and of which nothing else is known. Kept for a while; a list that
 * is old is shown while it is asked for again. A changed credential is another provider here.
 */
export class UpstreamModels {
  readonly #parts: UpstreamModelsParts;
  readonly #kept = new WeakMap<SavedProvider, Kept>();
  readonly #now: () => number;

  constructor(parts: UpstreamModelsParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
  }

  /** As far as it is known by now. */
  listOf(provider: SavedProvider): readonly UpstreamModel[] {
    return this.#kept.get(provider)?.models ?? none;
  }

  /** Waits for the lists that were never had, within the deadline. Never rejects. */
  async look(exchange: Exchange, providers: readonly SavedProvider[]): Promise<void> {
    const asked = providers.slice(0, asksMax).flatMap((provider) => {
      const asking = this.#ask(exchange, provider);
      return asking === undefined || this.listOf(provider).length > 0 ? [] : [asking];
    });
    await Promise.all(asked);
  }

  #ask(exchange: Exchange, provider: SavedProvider): Promise<void> | undefined {
    let kept = this.#kept.get(provider);
    if (kept === undefined) {
      kept = { models: none, freshUntilMs: 0, asking: undefined };
      this.#kept.set(provider, kept);
    }
    if (kept.freshUntilMs > this.#now()) return undefined;
    kept.asking ??= this.#renew(exchange, provider, kept);
    return kept.asking;
  }

  async #renew(exchange: Exchange, provider: SavedProvider, kept: Kept): Promise<void> {
    const { ask, logger } = this.#parts;
    const signal = AbortSignal.timeout(deadlineMs);
    try {
      const late = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      const reply = await Promise.race([ask(lookFor(exchange, provider, signal)), late]);
      const models = modelsIn(reply);
      if (models === undefined) throw new Error('it is no list of models');
      kept.models = models;
      kept.freshUntilMs = this.#now() + freshMs;
    } catch (error) {
      kept.freshUntilMs = this.#now() + failedMs;
      logger.warn(
        { err: error, provider: provider.slug },
        'a provider’s list of models could not be had',
      );
    } finally {
      kept.asking = undefined;
    }
  }
}

const none: readonly UpstreamModel[] = [];

/** For whoever asks for the list, with nothing of their headers, at the provider alone. */
function lookFor(
  { arrival, key, bundle, metadata }: Exchange,
  { slug }: SavedProvider,
  signal: AbortSignal,
): ModelExchange {
  const { listModels } = operations;
  const headers = { 'x-service-provider': `@${slug}` };
  const look = openExchange(
    { ...arrival, search: '', headers, caller: readCallerHeaders(headers), signal },
    modelCall(listModels, '/v1/models', ''),
  );
  look.key = key;
  look.bundle = bundle;
  look.metadata = metadata;
  return look;
}

function modelsIn(reply: Reply): UpstreamModel[] | undefined {
  if (reply.kind !== 'body' || reply.status !== 200) {
    discard(reply);
    return undefined;
  }
  let data: unknown;
  try {
    data = (readJson(reply.body, jsonBounds.reply) as { data?: unknown } | null)?.data;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
  if (!Array.isArray(data)) return undefined;
  const models = new Map<string, UpstreamModel>();
  for (const each of data) {
    if (models.size === modelsMax) break;
    const { id, created } = (each ?? {}) as { id?: unknown; created?: unknown };
    if (typeof id !== 'string' || id === '' || id.length > idLengthMax) continue;
    const isTime = typeof created === 'number' && Number.isSafeInteger(created) && created > 0;
    models.set(id, { id, created: isTime ? created : 0 });
  }
  return [...models.values()];
}
