/** `stream-with-usage`: OpenAI's formats tell the usage at the end of a stream only to those who ask. */
export type ReplyForm = 'json' | 'stream' | 'stream-with-usage';

/** One answer as it was given. A key holds one at a time: what is stored later replaces it, in whatever form. */
export interface CachedReply {
  form: ReplyForm;
  contentType: string;
  /** Unix ms: readers may ask for a shorter age than the writer did. */
  storedAtMs: number;
  body: Buffer;
}

/** Where answers are kept. A store that cannot be used is an empty one: nothing here throws or rejects. */
export interface CacheStore {
  /** Looking costs nothing and is answered without a promise. */
  readonly isLocal: boolean;
  get(
    organisationId: string,
    key: string,
  ): CachedReply | undefined | Promise<CachedReply | undefined>;
  /** The same for whoever only wants to know: it is not used by that. */
  peek(
    organisationId: string,
    key: string,
  ): CachedReply | undefined | Promise<CachedReply | undefined>;
  /** Nobody waits for it. */
  set(organisationId: string, key: string, reply: CachedReply, ttlMs: number): void;
  /** Nobody waits for it. */
  forget(organisationId: string, key: string): void;
}
