import type { Logger } from '@sluice/telemetry';
import { type CallRegister, type TakenCall, takenMax } from './call-register.ts';

/** A call that is heard here. */
export interface HeardCall {
  /** Another gateway hears it: nothing more is counted here, and nobody hangs up. */
  letGo(): void;
}

type Register = Pick<CallRegister, 'isShared' | 'look' | 'note' | 'drop' | 'isFirst'>;

interface Kept {
  readonly call: HeardCall;
  readonly sealed: string;
  /** Others were told of it, so that one of them may have taken it and heard it end. */
  isNoted: boolean;
}

const lookMs = 1000;
/** Others are waited for, or more calls are to be taken over than one look gives; what is heard by two is over soon. */
const soonMs = 250;
/** What is heard here is said again after so long, whatever calls that are taken over wait for: well within their lease. */
const takingMs = 1500;

/**
 * Keeps other gateways told of the calls that are heard here, and takes over those
 * that nobody hears any more: of a gateway that was killed within some seconds, of
 * one that is stopping at once.
 */
export class CallHandover {
  readonly #register: Register;
  readonly #logger: Pick<Logger, 'info' | 'warn'>;
  readonly #calls = new Map<string, Kept>();
  readonly #taking = new Set<string>();
  #isLeaving = false;
  /** There are more calls than are noted: said once, until one is noted again. */
  #areTooMany = false;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;
  /** Hears a call from here on. Rejects where that cannot be now; false = it never can. */
  adopt: ((call: TakenCall) => Promise<boolean>) | undefined;

  constructor(register: Register, logger: Pick<Logger, 'info' | 'warn'>) {
    this.#register = register;
    this.#logger = logger;
  }

  get isOn(): boolean {
    return this.#register.isShared;
  }

  start(): void {
    if (this.isOn) this.#lookIn(lookMs);
  }

  /** Its calls are offered to others. */
  drain(): void {
    this.#isLeaving = true;
    if (this.isOn && this.#calls.size > 0) this.#lookIn(0);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** It is heard here from now on. */
  keep(name: string, sealed: string, call: HeardCall, isNoted: boolean): void {
    this.#calls.set(name, { call, sealed, isNoted });
    if (!isNoted) void this.#note(name);
  }

  over(name: string, call: HeardCall): void {
    if (this.#calls.get(name)?.call !== call) return;
    this.#calls.delete(name);
    void this.#register.drop(name);
  }

  /** False = another gateway accounts for this event of the call. Never rejects. */
  isFirst(name: string, event: string): Promise<boolean> {
    return this.#register.isFirst(name, event);
  }

  #lookIn(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      void this.#look().then((taken) =>
        this.#lookIn(this.#isLeaving || taken >= takenMax ? soonMs : lookMs),
      );
    }, ms);
    this.#timer.unref();
  }

  /** @returns how many were taken over. Never rejects. */
  async #look(): Promise<number> {
    const names = [...this.#calls.keys()];
    try {
      const { states, taken } = await this.#register.look(names, this.#isLeaving);
      for (const [at, name] of names.entries()) this.#heed(name, states[at]);
      await within(takingMs, Promise.all(taken.map((call) => this.#take(call))));
      return taken.length;
    } catch {
      // The part says so. Who hears a call goes on hearing it.
      return 0;
    }
  }

  #heed(name: string, state: string | undefined): void {
    const kept = this.#calls.get(name);
    if (kept === undefined) return;
    // It was not noted yet, or Redis lost it; or, of one that was offered, another gateway took it and it has ended.
    if (state === 'unknown' && !(kept.isNoted && this.#isLeaving)) void this.#note(name);
    if (state !== 'taken') return;
    this.#calls.delete(name);
    kept.call.letGo();
  }

  async #note(name: string): Promise<void> {
    const kept = this.#calls.get(name);
    if (kept === undefined) return;
    try {
      const { sealed } = kept;
      const isNoted = await this.#register.note({ name, sealed });
      kept.isNoted ||= isNoted;
      if (!isNoted && !this.#areTooMany)
        this.#logger.warn('more calls are under way than gateways note for one another');
      this.#areTooMany = !isNoted;
      // It ended meanwhile.
      if (!this.#calls.has(name)) await this.#register.drop(name);
    } catch {
      // The next look finds it unknown.
    }
  }

  /** Never rejects. */
  async #take(call: TakenCall): Promise<void> {
    if (this.#calls.has(call.name) || this.#taking.has(call.name)) return;
    this.#taking.add(call.name);
    try {
      if ((await this.adopt?.(call)) === true) {
        this.#logger.info({ call: call.name }, 'a call was taken over from another gateway');
        return;
      }
    } catch (error) {
      // Its lease ends, and whoever looks next tries again.
      this.#logger.warn({ err: error, call: call.name }, 'a call cannot be taken over yet');
      return;
    } finally {
      this.#taking.delete(call.name);
    }
    await this.#register.drop(call.name);
  }
}

/** Resolves with it, or when the time is over. */
async function within(ms: number, done: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([done, over]);
  clearTimeout(timer);
}
