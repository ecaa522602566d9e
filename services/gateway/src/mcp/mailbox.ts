import { RecentMap } from '../chain/recent-map.ts';
import type { Abortable } from '../http/caller-gone.ts';
import { sharedKeys } from '../redis/shared-keys.ts';
import type { SharedPart, SharedStore } from '../redis/shared-store.ts';

/** A place where one message is left for whoever waits for it, at this gateway or another. */
export interface LetterBox {
  readonly organisationId: string;
  /** Nobody else's: it has a session's name, or a random one, in it. */
  readonly name: string;
}

/** A letter that is kept here: without Redis for whoever asks here, else until Redis can be asked. */
interface KeptLetter {
  readonly box: LetterBox;
  readonly letter: Buffer;
  readonly untilMs: number;
}

const lettersMax = 10_000;
/** A letter that nobody fetched. */
const keptMs = 120_000;
const appendedMax = 1000;
/** As much as letters of one size may be together; of whatever sizes, some eight times as much. */
const appendedBytesMax = 8 * 1024 * 1024;
const drainedMax = 50;
const firstLookMs = 15;
const lookMsMax = 150;
/** What could not be left in Redis is tried again. */
const againMs = 250;

/**
 * Answers that arrive at another gateway than the one that waits for them: left in Redis, else known here alone. While Redis
 * is away they are kept here, and left there as soon as it answers again.
 */
export class Mailbox {
  readonly #waiting = new Map<string, Set<(letter: Buffer) => void>>();
  readonly #own = new RecentMap<KeptLetter>(lettersMax);
  readonly #shared: SharedPart | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(shared: SharedStore | undefined) {
    this.#shared = shared?.share({
      name: 'mcp_letters',
      deadlineMs: 1000,
    });
  }

  get isShared(): boolean {
    return this.#shared?.isUsable === true;
  }

  /** Never rejects. @param ttlMs for how long it is kept for whoever comes, where there is Redis */
  async put(box: LetterBox, letter: Buffer, ttlMs: number = keptMs): Promise<void> {
    const kept = { box, letter, untilMs: Date.now() + ttlMs };
    if (this.#give(kept)) return;
    const shared = this.#shared;
    if (shared?.isUsable === true && (await leave(kept, shared))) return;
    this.#keep(kept);
  }

  /** Whether somebody waited for it here. */
  #give({ box, letter }: KeptLetter): boolean {
    const takers = this.#waiting.get(box.name);
    for (const take of [...(takers ?? [])]) take(letter);
    return takers !== undefined;
  }

  /** Until somebody asks here, or Redis answers. */
  #keep(kept: KeptLetter): void {
    // Who came while Redis was asked looks here no more.
    if (this.#give(kept)) return;
    this.#own.set(kept.box.name, kept);
    if (this.#shared !== undefined) this.#leaveLater(this.#shared);
  }

  #leaveLater(shared: SharedPart): void {
    this.#timer ??= setTimeout(async () => {
      for (const kept of shared.isUsable ? [...this.#own.values()] : []) {
        // It is not in two places at once.
        this.#own.delete(kept.box.name);
        if (kept.untilMs <= Date.now() || (await leave(kept, shared))) continue;
        this.#keep(kept);
        break;
      }
      this.#timer = undefined;
      if (this.#own.size > 0) this.#leaveLater(shared);
    }, againMs).unref();
  }

  /** Rejects with the signal's reason. Who asks again, while the first still waits, gets it as well. */
  take(box: LetterBox, signal: Abortable): Promise<Buffer> {
    const known = this.#own.peek(box.name);
    if (known !== undefined) {
      this.#own.delete(box.name);
      return Promise.resolve(known.letter);
    }
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const stop = () => {
        clearTimeout(timer);
        takers.delete(found);
        if (takers.size === 0 && this.#waiting.get(box.name) === takers)
          this.#waiting.delete(box.name);
        signal.removeEventListener('abort', onAbort);
      };
      const onAbort = () => {
        stop();
        reject(signal.reason);
      };
      const found = (letter: Buffer) => {
        stop();
        resolve(letter);
      };
      const takers = this.#waiting.get(box.name) ?? new Set();
      if (signal.aborted) return onAbort();
      takers.add(found);
      this.#waiting.set(box.name, takers);
      signal.addEventListener('abort', onAbort, { once: true });
      if (this.#shared === undefined) return;
      const look = (waitMs: number) => {
        timer = setTimeout(async () => {
          const letter = await this.#fetch(box);
          if (letter !== undefined) for (const take of [...takers]) take(letter);
          // Unless it was left here meanwhile, or given up.
          else if (takers.has(found)) look(Math.min(lookMsMax, waitMs * 1.5));
        }, waitMs);
      };
      look(firstLookMs);
    });
  }

  /** Leaves it behind what is there already, for whoever `hears` of the box elsewhere; the oldest make room for it. */
  async append(box: LetterBox, letter: Buffer): Promise<void> {
    const key = keyOf(box);
    const left = Math.min(appendedMax, Math.floor(appendedBytesMax / letter.length) || 1);
    await this.#shared?.call(key, (redis) =>
      redis
        .multi([
          ['rpush', key, letter],
          ['ltrim', key, -left, -1],
          ['pexpire', key, keptMs],
        ])
        .exec(),
    );
  }

  /** Takes what is appended at other gateways, in order, until the signal. */
  hear(box: LetterBox, heard: (letter: Buffer) => void, signal: AbortSignal): void {
    const look = async () => {
      if (signal.aborted) return;
      await this.#hearSome(box, heard);
      const timer = setTimeout(look, lookMsMax);
      timer.unref();
    };
    void look();
  }

  /** Takes what is appended by now, in order. Never rejects. */
  async hearRest(box: LetterBox, heard: (letter: Buffer) => void): Promise<void> {
    while ((await this.#hearSome(box, heard)) === drainedMax);
  }

  /** @returns how many there were */
  async #hearSome(box: LetterBox, heard: (letter: Buffer) => void): Promise<number> {
    const key = keyOf(box);
    try {
      const letters = (await this.#shared?.call(key, (redis) =>
        redis.call('LPOP', key, drainedMax),
      )) as string[] | null | undefined;
      for (const letter of letters ?? []) heard(Buffer.from(letter));
      return letters?.length ?? 0;
    } catch {
      // The part rests now, and is asked again.
      return 0;
    }
  }

  async #fetch(box: LetterBox): Promise<Buffer | undefined> {
    if (!this.isShared) return undefined;
    const key = keyOf(box);
    try {
      const letter = await this.#shared?.call(key, (redis) => redis.getBuffer(key));
      if (letter === null || letter === undefined) return undefined;
      await this.#shared?.call(key, (redis) => redis.del(key));
      return letter;
    } catch {
      // The part rests now; it is looked for again until whoever waits gives up.
      return undefined;
    }
  }
}

/** Whether it is in Redis now. */
function leave({ box, letter, untilMs }: KeptLetter, shared: SharedPart): Promise<boolean> {
  const key = keyOf(box);
  const ttlMs = Math.max(1, untilMs - Date.now());
  return shared
    .call(key, (redis) => redis.set(key, letter, 'PX', ttlMs))
    .then(
      () => true,
      // The part rests now.
      () => false,
    );
}

function keyOf({ organisationId, name }: LetterBox): string {
  return sharedKeys.mcpLetter(organisationId, name);
}
