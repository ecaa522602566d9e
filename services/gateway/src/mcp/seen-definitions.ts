import { hash } from 'node:crypto';
import type { ConfigSource } from '../held/config-source.ts';

/** A page, or all, of what a server lists of one type. */
export interface SeenList {
  readonly organisationId: string;
  readonly integrationId: string;
  /** "tool", "prompt", "resource" or "resource_template". */
  readonly type: string;
  readonly items: readonly {
    readonly name: string;
    readonly hash: string;
    readonly bytes: Buffer;
  }[];
  /** They are all there is. */
  readonly isComplete: boolean;
  /** Of the pins that are in force here: what was told under others may have been undone since, and is told again. */
  readonly pins: string;
}

/** One that waits, with when it was seen (`performance.now()`). */
interface WaitingList extends SeenList {
  readonly seenAt: number;
}

export interface SeenDefinitionsOptions {
  readonly report: ConfigSource['reportDefinitions'];
  readonly onFault: (error: unknown) => void;
}

/** In one report. */
const seenMax = 500;
/** Definitions beyond are told by their hashes alone. */
const definitionBytesMax = 64 * 1024;
/** What was told is not told again while it is among so many. */
const toldMax = 50_000;
/** Another gateway may have told something else meanwhile. */
const toldForMs = 600_000;
const waitingMax = 200;
/** Bytes of definitions that wait. */
const waitingBytesMax = 32 * 1024 * 1024;

/**
 * Tells the control plane what servers list, for pins and drift: each definition
 * once, one report after the other, and nobody waits for it. What could not be
 * told is told when it is listed again.
 */
export class SeenDefinitions {
  readonly #options: SeenDefinitionsOptions;
  /** Pins and hashes by integration, type and name; of whole lists their names. */
  readonly #told = new Map<string, string>();
  readonly #waiting: WaitingList[] = [];
  /** Of those that wait, so that none waits twice. */
  readonly #marks = new Set<string>();
  #waitingBytes = 0;
  #toldSince = performance.now();
  /** Lists of which all is told, as they were when this number of changes had been made. */
  readonly #known = new WeakMap<SeenList['items'], string>();
  #changes = 0;
  #isSending = false;
  #isStopped = false;

  constructor(options: SeenDefinitionsOptions) {
    this.#options = options;
  }

  see(list: SeenList): void {
    const now = performance.now();
    if (now - this.#toldSince > toldForMs) {
      this.#told.clear();
      this.#changes += 1;
      this.#toldSince = now;
    }
    const state = `${list.pins} ${this.#changes}`;
    if (this.#known.get(list.items) === state) return;
    const fresh = list.items.filter(
      ({ name, hash }) => this.#told.get(keyOf(list, name)) !== toldOf(list, hash),
    );
    const isKnown = fresh.length === 0 && (!list.isComplete || this.#wasWhole(list));
    if (isKnown) this.#known.set(list.items, state);
    if (isKnown || this.#isStopped || this.#waiting.length >= waitingMax) return;
    // A whole list is told whole, or what is gone of it would not be known.
    const told = { ...list, seenAt: now, items: (list.isComplete ? list.items : fresh).map(kept) };
    const mark = markOf(told);
    const size = sizeOf(told);
    if (this.#marks.has(mark) || this.#waitingBytes + size > waitingBytesMax) return;
    this.#marks.add(mark);
    this.#waitingBytes += size;
    this.#waiting.push(told);
    if (!this.#isSending) void this.#send();
  }

  /** Nothing is told from now on, but what is on its way. */
  stop(): void {
    this.#isStopped = true;
    this.#clear();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (let list = this.#waiting.shift(); list !== undefined; list = this.#waiting.shift()) {
      this.#marks.delete(markOf(list));
      this.#waitingBytes -= sizeOf(list);
      try {
        await this.#tell(list);
      } catch (error) {
        // What waits would meet the same; it is told when it is listed again.
        this.#clear();
        this.#options.onFault(error);
      }
    }
    this.#isSending = false;
  }

  #clear(): void {
    this.#waiting.length = 0;
    this.#marks.clear();
    this.#waitingBytes = 0;
  }

  async #tell(list: WaitingList): Promise<void> {
    const { organisationId, integrationId, type, items } = list;
    const isComplete = list.isComplete && items.length <= seenMax;
    for (let at = 0; at === 0 || at < items.length; at += seenMax) {
      const part = items.slice(at, at + seenMax);
      if (part.length === 0 && !isComplete) return;
      await this.#options.report({
        organisationId,
        integrationId,
        isComplete,
        completeTypes: isComplete ? [type] : [],
        ageMs: Math.round(performance.now() - list.seenAt),
        seen: part.map(({ name, hash, bytes }) => ({
          type,
          name,
          hash,
          definitionJson: bytes.toString('utf8'),
        })),
      });
      for (const { name, hash } of part) this.#remember(keyOf(list, name), toldOf(list, hash));
    }
    if (list.isComplete) this.#remember(keyOf(list, ''), namesOf(list));
  }

  #wasWhole(list: SeenList): boolean {
    return this.#told.get(keyOf(list, '')) === namesOf(list);
  }

  /** Maps keep insertion order: the first is the oldest. */
  #remember(key: string, value: string): void {
    if (this.#told.get(key) !== value) this.#changes += 1;
    this.#told.delete(key);
    this.#told.set(key, value);
    for (const oldest of this.#told.keys()) {
      if (this.#told.size <= toldMax) return;
      this.#told.delete(oldest);
    }
  }
}

function keyOf({ integrationId, type }: SeenList, name: string): string {
  return `${integrationId} ${type} ${name}`;
}

function toldOf({ pins }: SeenList, hash: string): string {
  return `${pins} ${hash}`;
}

/** Without the page that it came in, and without what is not told. */
function kept({ name, hash, bytes }: SeenList['items'][number]): SeenList['items'][number] {
  return { name, hash, bytes: bytes.length > definitionBytesMax ? nothing : Buffer.from(bytes) };
}

const nothing = Buffer.alloc(0);

function sizeOf({ items }: SeenList): number {
  return items.reduce((size, { bytes }) => size + bytes.length, 0);
}

function markOf({ integrationId, type, items, isComplete }: SeenList): string {
  const hashes = items.map(({ name, hash }) => `${name} ${hash}`).join('\n');
  return hash('sha256', `${integrationId} ${type} ${isComplete}\n${hashes}`, 'base64');
}

function namesOf({ items }: SeenList): string {
  return hash('sha256', items.map(({ name }) => name).join('\n'), 'base64');
}
