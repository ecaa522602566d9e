import type { ToxicCategory } from '@sluice/contracts/checks';
import { PhraseIndex } from '../reading/phrase-index.ts';
import { readText } from '../reading/readable-text.ts';
import { addressedTerms, addresses, toxicTerms } from './toxic-terms.ts';

/** A list under its name: what is counted, and told by its name alone. */
export interface TermList {
  readonly name: string;
  readonly terms: readonly string[];
}

type Idea = { readonly name: string } | 'addressed' | 'address';

/** Finds words and phrases of lists, whole, with their inflections, also where they are disguised. */
export class TermFinder {
  readonly #index: PhraseIndex<Idea>;
  readonly #allowed: readonly RegExp[];

  constructor(
    lists: readonly TermList[],
    categories: readonly ToxicCategory[],
    allow: readonly string[],
  ) {
    const own = lists.flatMap(({ name, terms }) =>
      terms.flatMap((term) => inflected(term).map((form) => [form, { name }] as const)),
    );
    const listed = categories.flatMap((name) =>
      toxicTerms[name].flatMap((terms) =>
        terms.split(',').map((term) => [term, { name }] as const),
      ),
    );
    const spoken = categories.includes('insult')
      ? [
          ...addressedTerms.split(',').map((term) => [term, 'addressed'] as const),
          ...addresses.split(',').map((term) => [term, 'address'] as const),
        ]
      : [];
    this.#index = new PhraseIndex<Idea>([...own, ...listed, ...spoken]);
    this.#allowed = allow.map((phrase) => wholePhrase(readText(phrase).text));
  }

  /** How often each list is met. */
  count(original: string): Record<string, number> {
    let { text } = readText(original);
    for (const phrase of this.#allowed) text = text.replace(phrase, ' ');
    const counts: Record<string, number> = {};
    const met = new Map<string, number>();
    const add = (name: string, at: number) => {
      // Two phrases of a list that begin with one word are one finding.
      if (met.get(name) === at) return;
      met.set(name, at);
      counts[name] = (counts[name] ?? 0) + 1;
    };
    let lastAddress = Number.NEGATIVE_INFINITY;
    let lastAddressed = Number.NEGATIVE_INFINITY;
    for (const { idea, at } of this.#index.find(text)) {
      if (typeof idea === 'object') add(idea.name, at);
      else {
        if (idea === 'address') lastAddress = at;
        else lastAddressed = at;
        // “you stupid …”, “you are a complete idiot”, “loser, you”
        if (
          lastAddressed - lastAddress <= 4 &&
          lastAddress - lastAddressed <= 2 &&
          lastAddress !== lastAddressed
        )
          add('insult', Math.max(lastAddress, lastAddressed));
      }
    }
    return counts;
  }
}

function wholePhrase(phrase: string): RegExp {
  return new RegExp(
    `(?<![\\p{L}\\p{N}])${phrase.replace(/[^\p{L}\p{N} ]/gu, '\\$&')}(?![\\p{L}\\p{N}])`,
    'gu',
  );
}

/** A word of somebody's own also with the common endings; what has a star or is short says all its forms itself. */
function inflected(term: string): string[] {
  const word = term.trim();
  if (word.endsWith('*') || word.length < inflectedFrom || !/\p{L}$/u.test(word)) return [word];
  const stem = /e$/.test(word) ? word.slice(0, -1) : word;
  const last = word.at(-1) ?? '';
  return [
    word,
    ...['s', 'es', 'n', 'en', 'e', 'er', "'s", '’s'].map((ending) => word + ending),
    ...['ed', 'ing', 'er', 'ers', 'ies', 'a', 'i', 'os', 'as'].map((ending) => stem + ending),
    ...(/[bdgmnprt]$/.test(word) ? ['ed', 'ing', 'er'].map((ending) => word + last + ending) : []),
    ...(last === 'y' ? ['ies', 'ied'].map((ending) => word.slice(0, -1) + ending) : []),
  ];
}

const inflectedFrom = 4;
