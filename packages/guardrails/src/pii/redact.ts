import type { Finding } from './finding.ts';

/** Which identifier stands for what, within one request. Never logged. */
export type RedactionMap = ReadonlyMap<string, string>;

/**
 * Puts identifiers in the place of findings: `{{EMAIL_ADDRESS_1}}`. The same thing
 * has the same identifier in every text that one redactor sees, and no identifier
 * is one that stands in a text already.
 */
export class Redactor {
  readonly #identifiers = new Map<string, string>();
  readonly #originals = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #taken = new Set<string>();

  constructor(texts: readonly string[]) {
    for (const text of texts)
      if (text.includes('{{'))
        for (const [identifier] of text.matchAll(identifiers)) this.#taken.add(identifier);
  }

  /** By identifier, what stood in its place first. */
  get map(): RedactionMap {
    return this.#originals;
  }

  redact(text: string, findings: readonly Finding[]): string {
    const parts: string[] = [];
    let from = 0;
    for (const { type, value, start, end } of findings) {
      parts.push(text.slice(from, start), this.#identifierOf(type, value, text.slice(start, end)));
      from = end;
    }
    parts.push(text.slice(from));
    return parts.join('');
  }

  #identifierOf(type: string, value: string, original: string): string {
    const key = `${type} ${value}`;
    const known = this.#identifiers.get(key);
    if (known !== undefined) return known;
    let identifier: string;
    do {
      const count = (this.#counts.get(type) ?? 0) + 1;
      this.#counts.set(type, count);
      identifier = `{{${type}_${count}}}`;
    } while (this.#taken.has(identifier));
    this.#identifiers.set(key, identifier);
    this.#originals.set(identifier, original);
    return identifier;
  }
}

export const identifiers = /\{\{[A-Z][A-Z0-9_]{0,63}_\d{1,9}\}\}/g;
