import { Prisma } from '../generated/prisma/client.ts';
import type { Database } from '../kernel/database/client.ts';
import { isUuid } from '../kernel/names/ids.ts';
import type { ChangeFeed } from './change-feed.ts';

/** More than this are not told one by one. */
const changedMax = 5_000;
/** Marks that are remembered; gateways that went together have the same few. */
const rememberedMax = 50;

export interface ChangedKey {
  readonly key: string;
  /** Its workspace, or its organisation when it has none. */
  readonly of: string;
}

export interface ChangesSince {
  /** Undefined = so many that each key is to be asked for, or the mark is not known any more. */
  readonly keys: readonly ChangedKey[] | undefined;
  /** Whoever has these is fresh of this mark. */
  readonly mark: string;
}

interface Row {
  mark: string;
  isKnown: boolean;
  key: string | null;
  of: string | null;
}

/**
 * Which keys changed while a gateway was away, from what the database noted of
 * them. Read once for all gateways that come back with the same mark, and again
 * when a change of a key was told. Whoever asks hears of changes already.
 */
export class KeyChanges {
  readonly #db: Database;
  readonly #feed: ChangeFeed;
  readonly #known = new Map<string, Promise<ChangesSince>>();
  /** Of the last change that was told; empty = of none yet. */
  lastMark = '';

  constructor({ db, feed }: { db: Database; feed: ChangeFeed }) {
    this.#db = db;
    this.#feed = feed;
    feed.subscribe((event) => {
      const isKey = event.type === 'change' && 'key' in event.notice;
      if (!isKey && event.type !== 'live') return;
      this.#known.clear();
      if (isKey && 'key' in event.notice) this.lastMark = event.notice.mark ?? this.lastMark;
    });
  }

  since(mark: string): Promise<ChangesSince> {
    const known = this.#known.get(mark);
    if (known !== undefined) return known;
    const reading = this.#read(mark);
    if (!this.#feed.isLive || this.#known.size >= rememberedMax) return reading;
    this.#known.set(mark, reading);
    reading.catch(() => this.#known.delete(mark));
    return reading;
  }

  /** One statement, so that mark and changes are of one moment. */
  async #read(known: string): Promise<ChangesSince> {
    const mark = isUuid(known) ? known : null;
    const rows = await this.#db.$queryRaw<Row[]>(
      Prisma.sql`SELECT newest.id::text AS mark, known.since IS NOT NULL AS "isKnown",
          c.key_id::text AS key, c.subject_id::text AS of
        FROM (SELECT id FROM key_marks ORDER BY since DESC LIMIT 1) AS newest
        LEFT JOIN key_marks known ON known.id = ${mark}::uuid
        LEFT JOIN LATERAL (
          SELECT key_id, subject_id FROM key_changes WHERE changed_at >= known.since LIMIT ${changedMax + 1}
        ) AS c ON true`,
    );
    const [first] = rows;
    if (first === undefined) throw new Error('the database has no mark of keys');
    const keys = rows.flatMap(({ key, of }) => (key === null || of === null ? [] : [{ key, of }]));
    const isTold = first.isKnown && keys.length <= changedMax;
    return { keys: isTold ? keys : undefined, mark: first.mark };
  }
}
