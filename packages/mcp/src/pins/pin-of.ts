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

/** Pins by the bytes that they were made of: lists are the same nearly always, and reading them anew costs ten times as much. */
export class PinMemory {
  readonly #pins = new Map<string, string>();
  readonly #sizeMax: number;

  constructor(sizeMax = 20_000) {
    this.#sizeMax = sizeMax;
  }

  /** @param bytes those that `definition` was read from */
  pinOf(bytes: Uint8Array, definition: JsonValue): string {
    const key = hash('sha256', bytes, 'base64');
    const known = this.#pins.get(key);
    if (known !== undefined) return known;
    const pin = pinOf(definition);
    // The oldest goes: what is listed often comes back at once.
    if (this.#pins.size >= this.#sizeMax)
      this.#pins.delete(this.#pins.keys().next().value as string);
    this.#pins.set(key, pin);
    return pin;
  }
}
