import type { ParametersOf } from '@sluice/contracts/checks';
import { type Texts, textsOf } from '@sluice/providers';
import type { CheckFunction, CheckOutcome } from '../check.ts';
import { languageThread } from '../language/language-thread.ts';
import { lettersIn, spokenPieces } from '../language/spoken-pieces.ts';
import type { Told } from '../language/tell-languages.ts';
import { requiredSubject } from '../text-check.ts';

type Parameters = ParametersOf<'default.languages'>;

/** Which languages a text is in. What is too short, or in none that is known, is undecided. */
export function languages(parameters: Parameters): CheckFunction {
  return async (context) => {
    const texts: Texts = textsOf(context, parameters.subjects);
    const { pieces, letters } = spokenPieces(requiredSubject(texts.joined));
    if (letters < parameters.minLetters)
      return undecided(parameters, `There are ${letters} letters, too few to tell a language.`);
    const found = foundLanguages(pieces, await languageThread.ask(pieces), parameters.share);
    if (found.length === 0) return undecided(parameters, 'No language could be told.');
    return judged(parameters, found);
  };
}

interface FoundLanguage {
  readonly language: string;
  /** Of the letters that are in some language. */
  readonly share: number;
}

function foundLanguages(
  pieces: readonly string[],
  told: readonly Told[],
  shareMin: number,
): FoundLanguage[] {
  const lettersOf = new Map<string, number>();
  let all = 0;
  for (const [at, { language, isSure }] of told.entries()) {
    if (language === undefined || !isSure) continue;
    const letters = lettersIn(pieces[at] ?? '');
    all += letters;
    lettersOf.set(language, (lettersOf.get(language) ?? 0) + letters);
  }
  return [...lettersOf]
    .map(([language, letters]) => ({ language, share: Math.round((letters / all) * 100) / 100 }))
    .filter(({ share }) => share >= shareMin)
    .sort((a, b) => b.share - a.share);
}

function judged({ allowed, denied, not }: Parameters, found: FoundLanguage[]): CheckOutcome {
  const refused = found
    .map(({ language }) => language)
    .filter(
      (language) =>
        (denied as readonly string[] | undefined)?.includes(language) === true ||
        (allowed as readonly string[] | undefined)?.includes(language) === false,
    );
  const verdict = (refused.length === 0) !== not;
  const names = found.map(({ language }) => language).join(', ');
  const data = {
    verdict,
    not,
    explanation: `The text is in ${names}.`,
    languages: found.map((one) => ({ ...one })),
    refused,
    undecided: false,
  };
  return { verdict, data };
}

/** `not` turns a verdict; here there is none. */
function undecided({ not, onUndecided }: Parameters, explanation: string): CheckOutcome {
  const verdict = onUndecided === 'pass';
  return { verdict, data: { verdict, not, explanation, languages: [], undecided: true } };
}
