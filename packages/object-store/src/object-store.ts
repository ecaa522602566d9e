/** Where objects are kept, whatever keeps them. Keys are paths without a leading slash. */
export interface ObjectStore {
  /** What it is, for logs: never with a credential. */
  readonly name: string;
  /** @throws StoreError */
  put(key: string, content: Uint8Array, contentType: string): Promise<void>;
  /** Undefined = there is none. @throws StoreError */
  get(key: string): Promise<Buffer | undefined>;
  /** Those that are not there are gone as well. @throws StoreError */
  delete(keys: readonly string[]): Promise<void>;
  /** Keys that begin so, in the order of their bytes, from behind `after` on. @throws StoreError */
  list(prefix: string, options?: ListOptions): Promise<ObjectPage>;
  /** An address that anybody may read it at until it expires; undefined where the store has none. */
  addressOf(key: string, expiresInS: number): Promise<string | undefined>;
  close(): Promise<void>;
}

export interface ListOptions {
  readonly after?: string;
  /** At most 1,000, which is the default. */
  readonly max?: number;
}

export interface ObjectPage {
  readonly keys: readonly string[];
  readonly hasMore: boolean;
}

/** The store did not do what it was asked. */
export class StoreError extends Error {
  /** Asked again later it may: it did not answer, or is busy. What it refuses it refuses again. */
  readonly isAway: boolean;

  constructor(message: string, isAway: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreError';
    this.isAway = isAway;
  }
}
