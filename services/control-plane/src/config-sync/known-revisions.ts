import type { Batches } from './batches.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { Revision } from './read-change.ts';

/** Workspaces remembered; more than anybody has, so that the memory has an end. */
const rememberedMax = 200_000;

/**
 * At which revision workspaces are, for gateways that say what they hold. After a
 * restart hundreds of them ask about the same workspaces within seconds: each is
 * read once, and again when a change of it was told. An answer may be from just
 * before a change; whoever asks hears of changes already, and so of that one.
 */
export class KnownRevisions {
  readonly #current: Batches<Revision>;
  readonly #feed: ChangeFeed;
  /** Those read; null = there is no such workspace. */
  readonly #known = new Map<string, Revision | null>();
  /** Being read; one of which a change is told meanwhile is read again by whoever asks next. */
  readonly #reading = new Map<string, Promise<Revision | null>>();

  constructor({ current, feed }: { current: Batches<Revision>; feed: ChangeFeed }) {
    this.#current = current;
    this.#feed = feed;
    feed.subscribe((event) => {
      if (event.type === 'live') {
        this.#known.clear();
        this.#reading.clear();
      } else if (event.type === 'change' && 'workspace' in event.notice) {
        this.#known.delete(event.notice.workspace);
        this.#reading.delete(event.notice.workspace);
      }
    });
  }

  /** Null when there is no such workspace, or it is archived. Without a promise where it is known. */
  of(workspaceId: string): Revision | null | Promise<Revision | null> {
    const id = workspaceId.toLowerCase();
    return this.#known.get(id) ?? this.#reading.get(id) ?? this.#ask(id);
  }

  #ask(id: string): Promise<Revision | null> {
    const reading = this.#read(id);
    // Changes of what is read now would not be heard of.
    if (!this.#feed.isLive) return reading;
    this.#reading.set(id, reading);
    const settle = () => this.#reading.get(id) === reading && this.#reading.delete(id);
    return reading.then(
      (revision) => {
        if (this.#known.size >= rememberedMax) this.#known.clear();
        if (settle()) this.#known.set(id, revision);
        return revision;
      },
      (error: unknown) => {
        settle();
        throw error;
      },
    );
  }

  async #read(id: string): Promise<Revision | null> {
    return (await this.#current.get(id)) ?? null;
  }
}
