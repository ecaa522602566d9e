import type { CheckSubject } from '@sluice/contracts/checks';
import { type JsonObject, textsOf } from '@sluice/providers';
import { CheckError, type CheckFunction } from './check.ts';
import { furtherReadings } from './reading/further-readings.ts';
import { looksOf } from './reading/seen-text.ts';

export interface TextFinding {
  passes: boolean;
  explanation: string;
  /** The limits that applied, and what was found. */
  data?: JsonObject;
}

/** What every check of one text can be told. */
interface TextParameters {
  readonly not: boolean;
  readonly subjects: readonly CheckSubject[];
}

/**
 * A check of one text, whose verdict `not` turns around. Without a text it cannot decide.
 * One that fails by what it finds (`seeks`) looks at every reading of the text.
 */
export function textCheck(
  { not, subjects }: TextParameters,
  look: (text: string) => TextFinding | Promise<TextFinding>,
  { seeks = false }: { readonly seeks?: boolean } = {},
): CheckFunction {
  return (context) => {
    const texts = textsOf(context, subjects);
    const text = requiredSubject(texts.joined);
    const judged = ({ passes, explanation, data }: TextFinding) => {
      const verdict = passes !== not;
      return { verdict, data: { verdict, not, explanation, ...data, textExcerpt: excerpt(text) } };
    };
    const readings = seeks ? furtherReadings(texts) : [];
    if (readings.length > 0 || (seeks && !isPlain.test(text)))
      return worstOf([text, ...readings]).then(judged);
    const finding = look(text);
    return finding instanceof Promise ? finding.then(judged) : judged(finding);
  };

  /** The first that makes the check fail, else what all of the text says. */
  async function worstOf(readings: readonly string[]): Promise<TextFinding> {
    let first: TextFinding | undefined;
    for (const reading of readings) {
      const finding = await look(checkedSubject(reading));
      if (finding.passes === not) return finding;
      first ??= finding;
    }
    for (const reading of readings) {
      const looks = await looksOf(reading);
      if (looks === undefined) continue;
      const finding = await look(checkedSubject(looks));
      if (finding.passes === not) return finding;
    }
    return first as TextFinding;
  }
}

/** @throws CheckError when there is no text, or more than is looked at */
export function requiredSubject(text: string): string {
  if (text === '') throw new CheckError('NothingToCheck', 'There is no text to check.');
  return checkedSubject(text);
}

/** @throws CheckError when the text is longer than is looked at */
export function checkedSubject(text: string): string {
  if (text.length > textLengthMax)
    throw new CheckError('TextTooLong', `The text is longer than ${textLengthMax} characters.`);
  return text;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant.
const isPlain = /^[\x00-\x7f]*$/;

/** UTF-16 code units: half a million words, some 30 ms for the dearest look at each. */
const textLengthMax = 4 * 1024 * 1024;

export function excerpt(text: string): string {
  return text.length > excerptLengthMax ? `${text.slice(0, excerptLengthMax)}...` : text;
}

const excerptLengthMax = 100;
