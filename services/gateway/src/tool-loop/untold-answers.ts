import { hash } from 'node:crypto';
import type { JsonValue } from '@sluice/contracts';
import { jsonBounds, readJsonText } from '@sluice/json';
import { RecentMap } from '../chain/recent-map.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import { sharedKeys } from '../redis/shared-keys.ts';
import type { SharedPart } from '../redis/shared-store.ts';

/** What a provider that keeps a response has not heard yet of the calls in it. */
export interface Untold {
  /** Of the response. */
  readonly id: string;
  /** `function_call_output` items, in the order of the calls. */
  readonly items: readonly JsonValue[];
}

const keptMs = 24 * 3_600_000;
/** Of one response; what is more is not kept. */
const bytesMax = jsonBounds.small.bytesMax;
const largeFrom = 16_384;

/**
 * An answer may end behind calls of ours, since its caller has to bring something: whoever keeps it has the calls, and what came of them
 * is told with the request that goes on from it. Shared by all gateways where there is Redis, else known to this one alone.
 */
export class UntoldAnswers {
  readonly #small = new RecentMap<string>(2_000);
  readonly #large = new RecentMap<string>(32);
  readonly #shared: SharedPart | undefined;

  constructor(shared: SharedPart | undefined) {
    this.#shared = shared;
  }

  /** Never rejects. */
  async note(exchange: ModelExchange, { id, items }: Untold): Promise<void> {
    const text = JSON.stringify(items);
    if (Buffer.byteLength(text) > bytesMax) return;
    const { key, name } = placeOf(exchange, id);
    (text.length < largeFrom ? this.#small : this.#large).set(name, text);
    if (this.#shared?.isUsable !== true) return;
    // The part rests now, and this gateway knows all the same.
    await this.#shared
      .call(key, (redis) => redis.set(key, text, 'PX', keptMs))
      .catch(() => undefined);
  }

  /** Never rejects. Empty = nothing is missing, as far as is known. */
  async of(exchange: ModelExchange, id: string): Promise<readonly JsonValue[]> {
    const { key, name } = placeOf(exchange, id);
    const own = this.#small.use(name) ?? this.#large.use(name);
    if (own !== undefined) return itemsIn(own);
    if (this.#shared?.isUsable !== true) return [];
    return this.#shared
      .call(key, (redis) => redis.get(key))
      .then((text) => (text === null ? [] : itemsIn(text)))
      .catch(() => []);
  }
}

/** Whoever may go on from a response at its provider: its workspace. */
function placeOf({ key }: ModelExchange, id: string): { key: string; name: string } {
  if (key === undefined) throw new Error('tools are run after authentication');
  const { organisationId, workspaceId } = key.source;
  const name = hash('sha256', `${workspaceId} ${id}`, 'base64url').slice(0, 22);
  return { key: sharedKeys.untoldAnswers(organisationId, name), name };
}

function itemsIn(text: string): readonly JsonValue[] {
  // Of our own writing: many small parts are not too many.
  return readJsonText(text, jsonBounds.kept) as JsonValue[];
}
