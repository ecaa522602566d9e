import { checkWords } from './documents/check-words.ts';
import { documentWords } from './documents/words.ts';
import { secondNameWords } from './kernel/second-names.ts';
import { kernelWords, pathWords } from './kernel/words.ts';
import { ledgerWords } from './ledger/words.ts';
import { limitWords } from './limits/words.ts';
import { modelWords } from './models/words.ts';
import { peopleWords } from './people/words.ts';
import { toolWords } from './tools/words.ts';

export const wordLists: readonly Readonly<Record<string, string>>[] = [
  kernelWords,
  secondNameWords,
  peopleWords,
  limitWords,
  modelWords,
  documentWords,
  checkWords,
  toolWords,
  ledgerWords,
];

/**
 * What a published field means, by its name: one word has one meaning, wherever
 * it stands. A name that means something else somewhere is there a second time,
 * with the field or the resource that it belongs to: `conditions.key`, `feedback.value`.
 * A schema may also say it itself, by `.meta({ description })`.
 */
export const fieldWords: Readonly<Record<string, string>> = Object.assign({}, ...wordLists);

/** What the parameter of a path names. */
export function pathHelp(name: string): string | undefined {
  return (pathWords as Readonly<Record<string, string>>)[name];
}

/**
 * The word that counts for a field, the most particular first.
 * @param context the names it stands in, the innermost first: the field around it, the resource
 */
export function wordOf(name: string, context: readonly string[]): string | undefined {
  const names = [...context.map((around) => `${around}.${name}`), name];
  return names.find((each) => Object.hasOwn(fieldWords, each));
}
