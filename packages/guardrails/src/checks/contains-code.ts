import { languageOf, type ParametersOf } from '@sluice/contracts/checks';
import type { CheckFunction } from '../check.ts';
import { fencedBlocks } from '../fenced-blocks.ts';
import { textCheck } from '../text-check.ts';

/** Looks for a fenced block in a language, by any of its names. */
export function containsCode({
  format,
  not,
  subjects,
}: ParametersOf<'default.containsCode'>): CheckFunction {
  const wanted = languageOf(format);
  return textCheck({ not, subjects }, (text) => {
    const languages = [...new Set(fencedBlocks(text).map(({ language }) => languageOf(language)))];
    const passes = languages.includes(wanted);
    return {
      passes,
      explanation:
        languages.length === 0
          ? 'The text has no code blocks.'
          : `The text ${passes ? 'has' : 'has no'} code in ${format}.`,
      data: { format, foundFormats: languages.filter((language) => language !== '') },
    };
  });
}
