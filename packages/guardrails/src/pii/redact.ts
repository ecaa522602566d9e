import type { Finding } from './finding.ts';
import { Identifiers } from './identifiers.ts';

export interface RedactorOptions {
  /** Those of the request; absent = what it gives is its own. */
  readonly identifiers?: Identifiers | undefined;
  /** What it takes out may be put back. */
  readonly isRestorable?: boolean;
}

/**
 * Puts identifiers in the place of findings: `{{EMAIL_ADDRESS_1}}`. No identifier
 * is one that stands in its texts already.
 */
export class Redactor {
  readonly #identifiers: Identifiers;
  readonly #isRestorable: boolean;

  constructor(
    texts: readonly string[],
    { identifiers = new Identifiers(), isRestorable = false }: RedactorOptions = {},
  ) {
    this.#identifiers = identifiers;
    this.#isRestorable = isRestorable;
    for (const text of texts) identifiers.avoid(text);
  }

  /** The same of long texts, and others have their turn meanwhile. */
  static async madeInTurns(
    texts: readonly string[],
    { identifiers = new Identifiers(), ...options }: RedactorOptions,
    hasTurn: () => Promise<void>,
  ): Promise<Redactor> {
    for (const text of texts)
      for (let at = 0; at < text.length; at += takenATurn) {
        if (at > 0) await hasTurn();
        identifiers.avoid(text.slice(at, at + takenATurn + identifierLengthMax));
      }
    return new Redactor([], { identifiers, ...options });
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
      const original = text.slice(start, end);
      parts.push(
        text.slice(from, start),
        this.#identifiers.of(type, value, original, this.#isRestorable),
      );
      from = end;
    }
    return parts.join('');
  }
}

/** Some milliseconds of putting identifiers in their places. */
export const findingsATurn = 5_000;
/** Some milliseconds of looking for identifiers. */
const takenATurn = 64 * 1024;
const identifierLengthMax = 80;
