import type { JsonObject } from '@sluice/providers';

/** What a session is for: a conversation, words for what is said, or the same in another language. */
export type SessionKind = 'realtime' | 'transcription' | 'translation';

/** A session as it is asked for, apart from the name of its model. */
export interface AskedSession {
  readonly kind: SessionKind;
  /** As the caller wrote it; empty = not named. */
  readonly model: string;
  readonly session: JsonObject;
}

/** What a secret for a browser stands for: whoever shows it asks as who made it, for this session. */
export interface MintedSecret extends AskedSession {
  /** Of the key that made it; a JWT made it itself. */
  readonly by: { readonly keyHash: string } | { readonly token: string };
  /** The maker's own headers that say who is asked and how, by the names that they have inside. */
  readonly headers: Readonly<Record<string, string>>;
  /** The model by the name that its provider is asked for. */
  readonly upstreamModel: string;
  /** Unix ms. */
  readonly untilMs: number;
}
