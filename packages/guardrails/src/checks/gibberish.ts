import type { ParametersOf } from '@sluice/contracts/checks';
import { textsOf } from '@sluice/providers';
import type { CheckFunction } from '../check.ts';
import { languageThread } from '../language/language-thread.ts';
import { isNonsense } from '../language/nonsense.ts';
import { lettersIn, spokenPieces } from '../language/spoken-pieces.ts';
import { excerpt, requiredSubject } from '../text-check.ts';

/** Letters without sense. Words that make no sense together are beyond it. */
export function gibberish({
  threshold,
  minLetters,
  not,
  subjects,
}: ParametersOf<'default.gibberish'>): CheckFunction {
  return async (context) => {
    const text = requiredSubject(textsOf(context, subjects).joined);
    const { pieces, letters } = spokenPieces(text);
    const common = { not, threshold, textExcerpt: excerpt(text) };
    if (letters < minLetters) {
      const explanation = `There are ${letters} letters, too few to judge.`;
      return { verdict: true, data: { verdict: true, explanation, undecided: true, ...common } };
    }
    const told = await languageThread.ask(pieces);
    let senseless = 0;
    for (const [at, piece] of pieces.entries()) {
      const judged = told[at];
      if (judged !== undefined && isNonsense(piece, judged)) senseless += lettersIn(piece);
    }
    const share = Math.round((senseless / letters) * 100) / 100;
    const verdict = share < threshold !== not;
    const explanation = `${Math.round(share * 100)} % of the text is like no language.`;
    return { verdict, data: { verdict, explanation, share, undecided: false, ...common } };
  };
}
