import { hash } from 'node:crypto';
import type { JsonValue } from '@sluice/contracts';
import { canonicalJson } from '@sluice/json';

/**
 * What a definition is known by: hex SHA-256 of its canonical JSON. All of it counts – name, title, description, schemas,
 * annotations, icons, and members that nobody knows yet; order and spelling do not.
 * @param definition of a tool, prompt, resource or template as the upstream lists it, or a server's instructions
 */
export function pinOf(definition: JsonValue): string {
  return hash('sha256', canonicalJson(definition), 'hex');
}

/** What of one item of a list is known without reading it again. */
export interface ItemFacts {
  /** Its place in the list. */
  readonly index: number;
  readonly name: string;
  /** By `pinOf`. */
  readonly hash: string;
  /** Where it stands in the bytes of the list. */
  readonly start: number;
  readonly end: number;
}

export interface PageFacts {
  readonly items: readonly ItemFacts[];
  /** Places of what is no definition. */
  readonly unusable: readonly number[];
}

/**
 * What was found in pages of lists, by the bytes that they were: lists are the same nearly always, and reading them anew costs
 * some times as much as all else.
 */
export class PinMemory {
  readonly #pages = new Map<string, PageFacts>();
  readonly #itemsMax: number;
  #items = 0;

  /** @param itemsMax of all pages together; an item takes some 200 bytes */
  constructor(itemsMax = 50_000) {
    this.#itemsMax = itemsMax;
  }

  /** @param list the bytes of a list; the same ones mean the same for a kind of list only */
  page(kind: string, list: Uint8Array, read: () => PageFacts): PageFacts {
    const key = `${kind} ${hash('sha256', list, 'base64')}`;
    const known = this.#pages.get(key);
    if (known !== undefined) return known;
    const facts = read();
    if (facts.items.length > this.#itemsMax) return facts;
    this.#items += facts.items.length + 1;
    // The oldest goes: what is listed often comes back at once.
    for (const [oldest, { items }] of this.#pages) {
      if (this.#items <= this.#itemsMax) break;
      this.#pages.delete(oldest);
      this.#items -= items.length + 1;
    }
    this.#pages.set(key, facts);
    return facts;
  }
}
