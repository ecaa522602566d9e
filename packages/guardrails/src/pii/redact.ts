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
    for (const text of texts) this.#take(text);
  }

  /** The same of long texts, and others have their turn meanwhile. */
  static async madeInTurns(
    texts: readonly string[],
    hasTurn: () => Promise<void>,
  ): Promise<Redactor> {
    const redactor = new Redactor([]);
    for (const text of texts)
      for (let at = 0; at < text.length; at += takenATurn) {
        if (at > 0) await hasTurn();
        redactor.#take(text.slice(at, at + takenATurn + identifierLengthMax));
      }
    return redactor;
  }

  #take(text: string): void {
    if (text.includes('{{'))
      for (const [identifier] of text.matchAll(identifiers)) this.#taken.add(identifier);
  }

  /** By identifier, what stood in its place first. */
  get map(): RedactionMap {
    return this.#originals;
  }

  redact(text: string, findings: readonly Finding[]): string {
    return this.#redactFrom(text, 0, findings) + text.slice(findings.at(-1)?.end ?? 0);
  }

  /** The same, and others have their turn meanwhile. */
  async redactInTurns(
    text: string,
    findings: readonly Finding[],
    hasTurn: () => Promise<void>,
  ): Promise<string> {
    const pieces: string[] = [];
    let from = 0;
    for (let at = 0; at < findings.length; at += findingsATurn) {
      if (at > 0) await hasTurn();
      const some = findings.slice(at, at + findingsATurn);
      pieces.push(this.#redactFrom(text, from, some));
      from = some.at(-1)?.end ?? from;
    }
    return pieces.join('') + text.slice(from);
  }

  /** To the end of the last finding. */
  #redactFrom(text: string, begin: number, findings: readonly Finding[]): string {
    const parts: string[] = [];
    let from = begin;
    for (const { type, value, start, end } of findings) {
      parts.push(text.slice(from, start), this.#identifierOf(type, value, text.slice(start, end)));
      from = end;
    }
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

/** Some milliseconds of putting identifiers in their places. */
export const findingsATurn = 5_000;
/** Some milliseconds of looking for identifiers. */
const takenATurn = 64 * 1024;
const identifierLengthMax = 80;

export const identifiers = /\{\{[A-Z][A-Z0-9_]{0,63}_\d{1,9}\}\}/g;
