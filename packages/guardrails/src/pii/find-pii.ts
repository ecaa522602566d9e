import { findCards } from './cards.ts';
import { findCryptoAddresses } from './crypto-addresses.ts';
import { findEmails } from './emails.ts';
import type { Finder, Finding } from './finding.ts';
import { foldText } from './folded-text.ts';
import { findIbans } from './ibans.ts';
import { findPersons, findPlaces } from './names.ts';
import { findNationalIds } from './national-ids.ts';
import { findIpAddresses, findMacAddresses } from './network-addresses.ts';
import { phoneFinder } from './phones.ts';
import { findSecrets } from './secrets.ts';

export interface PiiOptions {
  readonly categories: readonly string[];
  /** Whose national telephone numbers count; ISO 3166. */
  readonly regions: readonly string[];
  /** What a config adds; the first to find a place has it. */
  readonly own: readonly Finder[];
  /** What is nothing to hide, in lower case. */
  readonly allowed: ReadonlySet<string>;
}

/** Everything that is sought, in the order in which it has a place that several claim. */
export class PiiFinder {
  readonly #finders: readonly Finder[];
  readonly #allowed: ReadonlySet<string>;

  constructor({ categories, regions, own, allowed }: PiiOptions) {
    const known: readonly (readonly [string, Finder])[] = [
      ['SECRET', findSecrets],
      ['IBAN', findIbans],
      ['CRYPTO_ADDRESS', findCryptoAddresses],
      ['EMAIL_ADDRESS', findEmails],
      ['CREDIT_CARD', findCards],
      ['NATIONAL_ID', findNationalIds],
      ['MAC_ADDRESS', findMacAddresses],
      ['IP_ADDRESS', findIpAddresses],
      ['PHONE_NUMBER', phoneFinder(regions)],
      ['PERSON', findPersons],
      ['LOCATION', findPlaces],
    ];
    const sought = known.filter(([category]) => categories.includes(category));
    this.#finders = [...own, ...sought.map(([, finder]) => finder)];
    this.#allowed = allowed;
  }

  /** All findings of a text in their order, none within another. */
  find(text: string): Finding[] {
    const findings: Finding[] = [];
    for (let at = 0; at < text.length; at += sliceLength) this.#findInSlice(text, at, findings);
    return findings;
  }

  /** The same, and others have their turn between slices of a long text. */
  async findInTurns(text: string, hasTurn: () => Promise<void>): Promise<Finding[]> {
    const findings: Finding[] = [];
    for (let at = 0; at < text.length; at += sliceLength) {
      if (at > 0) await hasTurn();
      this.#findInSlice(text, at, findings);
    }
    return findings;
  }

  /** What begins within the slice; it is read on beyond its end, and from before its beginning. */
  #findInSlice(text: string, from: number, findings: Finding[]): void {
    const start = Math.max(0, from - lookBehind);
    const sliceEnd = from + sliceLength;
    const own = text.slice(start, sliceEnd);
    const ahead = text.slice(sliceEnd, sliceEnd + (long.test(own) ? longLookAhead : lookAhead));
    // What began before is known: it must not hide what begins within.
    const first = Math.max(from, findings.at(-1)?.end ?? 0);
    for (const { start: at, end, ...rest } of this.#claims(own + ahead, first - start))
      if (start + at < sliceEnd) findings.push({ ...rest, start: start + at, end: start + end });
  }

  #claims(original: string, first: number): Finding[] {
    const folded = foldText(original);
    const claims: { finding: Finding; rank: number }[] = [];
    for (const [rank, finder] of this.#finders.entries())
      for (const finding of finder(folded.text)) {
        if (folded.originalStart(finding.start) < first) continue;
        if (!this.#allowed.has(finding.value.toLowerCase())) claims.push({ finding, rank });
      }
    claims.sort((a, b) => a.finding.start - b.finding.start || a.rank - b.rank);
    const kept: { finding: Finding; rank: number }[] = [];
    for (const claim of claims) {
      const last = kept.at(-1);
      if (last === undefined || claim.finding.start >= last.finding.end) kept.push(claim);
      else if (claim.rank < last.rank) kept[kept.length - 1] = claim;
    }
    return kept.map(({ finding }) => ({
      ...finding,
      start: folded.originalStart(finding.start),
      end: folded.originalEnd(finding.end),
    }));
  }
}

/** Some milliseconds of looking, whatever the text is. */
export const sliceLength = 8 * 1024;
/** Words that say what a number is stand before it. */
const lookBehind = 256;
const lookAhead = 1_024;
/** Private keys and tokens are longer than anything else. */
const long = /-----BEGIN |eyJ/;
const longLookAhead = 14_000;
