import { sharedKeys } from '../../redis/shared-keys.ts';
import type { SharedCommands, SharedPart, SharedStore } from '../../redis/shared-store.ts';
import type { Neighbour, Partition, VectorIndex } from './vector-index.ts';

export interface RedisVectorsOptions {
  dimensions: number;
  timeoutMs?: number;
}

export interface RedisVectorsParts {
  store: SharedStore;
  /** Holds the vectors where this Redis cannot search. */
  local: VectorIndex;
}

/** Far above what a healthy server takes, far below what a model does. */
const timeoutMsDefault = 250;

/**
 * Vectors that several gateways share, in a Redis that can search them. One
 * that cannot says so when it is asked first: then each gateway has its own.
 */
export class RedisVectors implements VectorIndex {
  readonly #part: SharedPart;
  readonly #local: VectorIndex;
  readonly #dimensions: number;
  /** Undefined until Redis has said. */
  #canSearch: boolean | undefined;
  #asking: Promise<void> | undefined;

  constructor({ dimensions, timeoutMs }: RedisVectorsOptions, { store, local }: RedisVectorsParts) {
    this.#dimensions = dimensions;
    this.#local = local;
    this.#part = store.share({
      name: 'vectors',
      deadlineMs: timeoutMs ?? timeoutMsDefault,
    });
  }

  get degraded(): boolean {
    return this.#part.degraded;
  }

  near(
    partition: Partition,
    vector: Float32Array,
    wanted: { atLeast: number; countMax: number },
  ): readonly Neighbour[] | Promise<readonly Neighbour[]> {
    return this.#canSearch === false
      ? this.#local.near(partition, vector, wanted)
      : this.#search(partition, vector, wanted);
  }

  add(partition: Partition, id: string, vector: Float32Array, ttlMs: number): void {
    if (this.#canSearch === false) {
      this.#local.add(partition, id, vector, ttlMs);
      return;
    }
    // Whoever adds has looked before: Redis has not answered.
    if (this.#canSearch === undefined) return;
    const name = nameOf(partition, id);
    const fields = ['partition', partition.key, 'id', id, 'vector', bytesOf(vector)];
    this.#tell(name, (redis) =>
      redis
        .multi([
          ['hset', name, ...fields],
          ['pexpire', name, ttlMs],
        ])
        .exec(),
    );
  }

  forget(partition: Partition, id: string): void {
    if (this.#canSearch === false) this.#local.forget(partition, id);
    else this.#tell(nameOf(partition, id), (redis) => redis.del(nameOf(partition, id)));
  }

  async #search(
    partition: Partition,
    vector: Float32Array,
    wanted: { atLeast: number; countMax: number },
  ): Promise<readonly Neighbour[]> {
    try {
      await this.#prepare();
      if (this.#canSearch === false) return await this.#local.near(partition, vector, wanted);
      const { countMax, atLeast } = wanted;
      // Keys are hex: nothing in the query has to be escaped.
      const query = `(@partition:{${partition.key}})=>[KNN ${countMax} @vector $vector AS distance]`;
      const reply = await this.#part.call(nameOf(partition, ''), (redis) =>
        redis.call(
          ...['FT.SEARCH', this.#index, query, 'PARAMS', '2', 'vector'],
          bytesOf(vector),
          ...['RETURN', '2', 'id', 'distance', 'SORTBY', 'distance', 'LIMIT', '0'],
          ...[String(countMax), 'DIALECT', '2'],
        ),
      );
      return neighboursIn(reply).filter(({ similarity }) => similarity >= atLeast);
    } catch {
      // The store has said so; no question is near. The index may be gone, too.
      this.#canSearch = undefined;
      return [];
    }
  }

  /** Those who ask meanwhile wait for the same answer. */
  async #prepare(): Promise<void> {
    if (this.#canSearch === true) return;
    this.#asking ??= this.#part
      .call(this.#index, (redis) => this.#makeIndex(redis))
      .then((canSearch) => {
        this.#canSearch = canSearch;
      })
      .finally(() => {
        this.#asking = undefined;
      });
    await this.#asking;
  }

  get #index(): string {
    return sharedKeys.vectorIndex(this.#dimensions);
  }

  async #makeIndex(redis: SharedCommands): Promise<boolean> {
    const known = await redis.call('COMMAND', 'INFO', 'FT.SEARCH');
    if (!Array.isArray(known) || !Array.isArray(known[0])) return false;
    const schema = ['partition', 'TAG', 'id', 'TEXT', 'NOINDEX', 'vector', 'VECTOR', 'HNSW', '6'];
    const made = ['TYPE', 'FLOAT32', 'DIM', String(this.#dimensions), 'DISTANCE_METRIC', 'COSINE'];
    const prefix = sharedKeys.vectorPrefix;
    try {
      await redis.call(
        ...['FT.CREATE', this.#index, 'ON', 'HASH', 'PREFIX', '1', prefix, 'SCHEMA'],
        ...schema,
        ...made,
      );
    } catch (error) {
      // Another gateway was here before.
      if (!(error instanceof Error) || !/already exists/i.test(error.message)) throw error;
    }
    return true;
  }

  #tell(name: string, send: (redis: SharedCommands) => Promise<unknown>): void {
    if (!this.#part.isUsable) return;
    this.#part.call(name, send).catch(() => {
      // Nobody waits for it.
    });
  }
}

function nameOf({ organisationId, key }: Partition, id: string): string {
  return sharedKeys.vector(organisationId, key, id);
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A count, then the name of each entry and its fields, of which each is a name and a value. */
function neighboursIn(reply: unknown): Neighbour[] {
  if (!Array.isArray(reply)) return [];
  return reply.flatMap((fields): Neighbour[] => {
    if (!Array.isArray(fields)) return [];
    const id: unknown = fields[fields.indexOf('id') + 1];
    const similarity = 1 - Number(fields[fields.indexOf('distance') + 1]);
    return typeof id === 'string' && Number.isFinite(similarity) ? [{ id, similarity }] : [];
  });
}
