import { jsonBounds, readJsonText } from '@sluice/json';
import { RecentMap } from '../chain/recent-map.ts';
import { sharedKeys } from '../redis/shared-keys.ts';
import type { SharedPart, SharedStore } from '../redis/shared-store.ts';
import type { Session } from './session.ts';

/** What became of a session after its id was given out. */
export interface SessionNote {
  /** Its client ended it. */
  readonly ended?: true;
  /** The upstream forgot its side of it, which was begun again under this id. */
  readonly upstreamId?: string;
  readonly revision?: string;
  /** What its client wants to hear of, where the server has no sessions. */
  readonly logLevel?: string;
}

const notesMax = 100_000;
/** Of merged servers what is too long for an id: 64 kB each at most. */
const longMax = 4_000;
const longFrom = 512;

/**
 * What an id cannot hold, since it came later: shared by all gateways where
 * there is Redis, else known to this one alone.
 */
export class SessionNotes {
  readonly #own = new RecentMap<SessionNote>(notesMax);
  readonly #long = new RecentMap<SessionNote>(longMax);
  readonly #shared: SharedPart | undefined;

  constructor(shared: SharedStore | undefined) {
    this.#shared = shared?.share({
      name: 'mcp_sessions',
      deadlineMs: 500,
    });
  }

  /** Where there is Redis; for what belongs to a conversation with a model in which tools are called, too. */
  get shared(): SharedPart | undefined {
    return this.#shared;
  }

  /** Whether other gateways hear of what is noted here. */
  get isShared(): boolean {
    return this.#shared?.isUsable === true;
  }

  of(session: Session): SessionNote | undefined | Promise<SessionNote | undefined> {
    const own = this.#own.use(session.name) ?? this.#long.use(session.name);
    if (own?.ended === true || !this.isShared) return own;
    const key = sharedKeys.mcpSession(session.organisationId, session.name);
    return this.#shared
      ?.call(key, (redis) => redis.get(key))
      .then(
        (text) => (text === null ? own : (readJsonText(text, jsonBounds.small) as SessionNote)),
        () => own,
      );
  }

  async note(session: Session, note: SessionNote): Promise<void> {
    const isLong = (note.upstreamId?.length ?? 0) > longFrom;
    (isLong ? this.#own : this.#long).delete(session.name);
    (isLong ? this.#long : this.#own).set(session.name, note);
    if (!this.isShared) return;
    const key = sharedKeys.mcpSession(session.organisationId, session.name);
    const ttlMs = Math.max(1000, session.expiresAt * 1000 - Date.now());
    await this.#shared
      ?.call(key, (redis) => redis.set(key, JSON.stringify(note), 'PX', ttlMs))
      // The part rests now, and this gateway knows all the same.
      .catch(() => undefined);
  }
}
