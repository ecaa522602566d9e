import { type FollowedWork, type FollowInterval, followedWork } from '@sluice/contracts';
import type { jobs } from '@sluice/proto-stubs';
import { type Logger, Outage } from '@sluice/telemetry';
import type { Register } from '../control-plane/register.ts';
import { pause } from '../pause.ts';
import { type Looker, lookAtWork, readOutcome, type Seen } from './look-at-work.ts';
import { type FollowPace, type NextLook, nextLook } from './next-look.ts';

export interface FollowOptions {
  /** Of this replica. */
  readonly atOnce: number;
  /** ms between looks for work that is due. */
  readonly intervalMs: number;
  /** After so long without a word another replica may look. */
  readonly leaseMs: number;
  readonly paces: Readonly<Record<FollowInterval, FollowPace>>;
}

export interface FollowParts {
  readonly register: Register;
  readonly looker: Looker;
  readonly logger: Logger;
  readonly onLook: (outcome: LookOutcome) => void;
}

export type LookOutcome = Seen['kind'] | 'lost';

/** All that is followed, whoever looks. */
export interface FollowedNow {
  readonly count: number;
  /** Unix ms; 0 = there is none. */
  readonly oldestAtMs: number;
}

const countEveryMs = 15_000;
/** For what work came to. */
const readMsMax = 15 * 60_000;

/** Looks at work that goes on at providers, when it is due, until it has ended: a gateway bills what it sees ended. */
export class FollowWork {
  readonly #parts: FollowParts;
  readonly #options: FollowOptions;
  readonly #looking = new Set<Promise<void>>();
  readonly #leaving = new AbortController();
  #asking: Promise<void> | undefined;
  #countedAtMs = 0;
  followed: FollowedNow = { count: 0, oldestAtMs: 0 };

  constructor(parts: FollowParts, options: FollowOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  start(): void {
    this.#asking = this.#askForever();
  }

  /** Looks that are cut off are somebody else's when their lease has ended. */
  async drain(): Promise<void> {
    this.#leaving.abort();
    await Promise.all([this.#asking, ...this.#looking]);
  }

  async #askForever(): Promise<void> {
    const { signal } = this.#leaving;
    const outage = new Outage({
      logger: this.#parts.logger,
      away: 'work at providers cannot be followed at the moment',
      back: 'work at providers is followed again',
    });
    while (!signal.aborted) {
      let isMore = false;
      try {
        isMore = await this.#ask();
        outage.ends();
      } catch (error) {
        if (!signal.aborted) outage.explains(error);
      }
      if (isMore) await Promise.race(this.#looking);
      else await pause(this.#options.intervalMs, signal);
    }
  }

  /** True = there may be more that is due, and no place for it. */
  async #ask(): Promise<boolean> {
    const { register } = this.#parts;
    const { atOnce, leaseMs } = this.#options;
    const max = atOnce - this.#looking.size;
    const withCounts = Date.now() - this.#countedAtMs >= countEveryMs;
    if (max === 0 && !withCounts) return true;
    const request = { max, leaseMs: BigInt(leaseMs), kinds: [...followedWork.keys()], withCounts };
    const { signal } = this.#leaving;
    const { looks, counts } = await register.ask(register.followed.claimLooks, request, { signal });
    if (counts !== undefined) {
      this.#countedAtMs = Date.now();
      this.followed = { count: Number(counts.followed), oldestAtMs: Number(counts.oldestAtMs) };
    }
    for (const look of looks) {
      const done = this.#look(look).finally(() => this.#looking.delete(done));
      this.#looking.add(done);
    }
    return looks.length === max && this.#looking.size > 0;
  }

  /** What it came to may take longer to read than a lease lasts: nobody else is to begin with it meanwhile. */
  async #readOutcome(look: jobs.Look, { reads }: FollowedWork, seen: Seen): Promise<Seen> {
    if (seen.kind !== 'ended' || reads === undefined) return seen;
    const { register, looker } = this.#parts;
    const { id, run, failures } = look;
    const afterMs = BigInt(readMsMax);
    await register.ask(register.followed.noteLook, { id, run, state: 'open', afterMs, failures });
    const limit = AbortSignal.timeout(readMsMax);
    const signal = AbortSignal.any([this.#leaving.signal, limit]);
    const reason = await readOutcome(looker, look, reads, signal);
    return reason === undefined ? seen : { kind: 'failed', reason };
  }

  /** Never rejects. */
  async #look(look: jobs.Look): Promise<void> {
    const { register, looker, logger, onLook } = this.#parts;
    const { id, run, work, failures } = look;
    const kind = [...followedWork.keys()].find((known) => known === work?.kind);
    const follow = kind && followedWork.get(kind);
    if (work === undefined || follow === undefined) return;
    const facts = { kind, object: work.objectId, provider: work.provider, work: id };
    try {
      const told = await lookAtWork(looker, look, follow, this.#leaving.signal);
      const seen = await this.#readOutcome(look, follow, told);
      if (this.#leaving.signal.aborted && seen.kind === 'failed') return;
      const ageMs = Date.now() - Number(work.madeAtMs);
      const next = nextLook(seen, this.#options.paces[follow.every], { ageMs, failures });
      onLook(next.state === 'lost' ? 'lost' : seen.kind);
      tell(logger, next, { ...facts, workspace: work.owner?.workspaceId });
      await register.ask(register.followed.noteLook, {
        id,
        run,
        ...next,
        afterMs: BigInt(next.afterMs),
      });
    } catch (error) {
      // Its lease ends by itself, and who sees its end twice bills it once.
      logger.warn({ ...facts, err: error }, 'what a look came to could not be told');
    }
  }
}

function tell(logger: Logger, { state, reason }: NextLook, facts: object): void {
  if (state === 'lost')
    logger.warn({ ...facts, reason }, 'work at a provider is lost: nobody saw its end');
  if (state === 'gone')
    logger.warn({ ...facts, reason }, 'work at a provider is not followed any more');
}
