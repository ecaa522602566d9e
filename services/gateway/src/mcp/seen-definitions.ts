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
}

export interface SeenDefinitionsOptions {
  readonly report: ConfigSource['reportDefinitions'];
  readonly onFault: (error: unknown) => void;
}

/** In one report. */
const seenMax = 500;
/** Definitions beyond are told by their hashes alone. */
const definitionCharsMax = 64 * 1024;
/** What was told is not told again while it is among so many. */
const toldMax = 50_000;
const waitingMax = 200;

/**
 * Tells the control plane what servers list, for pins and drift: each definition
 * once, one report after the other, and nobody waits for it. What could not be
 * told is told when it is listed again.
 */
export class SeenDefinitions {
  readonly #options: SeenDefinitionsOptions;
  /** Hashes by integration, type and name; of whole lists their names. */
  readonly #told = new Map<string, string>();
  readonly #waiting: SeenList[] = [];
  #isSending = false;

  constructor(options: SeenDefinitionsOptions) {
    this.#options = options;
  }

  see(list: SeenList): void {
    const fresh = list.items.filter(({ name, hash }) => this.#told.get(keyOf(list, name)) !== hash);
    const isKnown = fresh.length === 0 && (!list.isComplete || this.#wasWhole(list));
    if (isKnown || this.#waiting.length >= waitingMax) return;
    // A whole list is told whole, or what is gone of it would not be known.
    this.#waiting.push(list.isComplete ? list : { ...list, items: fresh });
    if (!this.#isSending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (let list = this.#waiting.shift(); list !== undefined; list = this.#waiting.shift())
      try {
        await this.#tell(list);
      } catch (error) {
        this.#options.onFault(error);
      }
    this.#isSending = false;
  }

  async #tell(list: SeenList): Promise<void> {
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
        seen: part.map(({ name, hash, bytes }) => ({
          type,
          name,
          hash,
          definitionJson: bytes.length > definitionCharsMax ? '' : bytes.toString('utf8'),
        })),
      });
      for (const { name, hash } of part) this.#remember(keyOf(list, name), hash);
    }
    if (list.isComplete) this.#remember(keyOf(list, ''), namesOf(list));
  }

  #wasWhole(list: SeenList): boolean {
    return this.#told.get(keyOf(list, '')) === namesOf(list);
  }

  /** Maps keep insertion order: the first is the oldest. */
  #remember(key: string, value: string): void {
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

function namesOf({ items }: SeenList): string {
  return hash('sha256', items.map(({ name }) => name).join('\n'), 'base64');
}
