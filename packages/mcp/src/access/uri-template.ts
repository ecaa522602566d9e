import { regularPattern } from './uri-forms.ts';

/** What a matching may cost, in steps. Everything that one request is held against draws on one. */
export interface MatchBudget {
  steps: number;
}

export function newMatchBudget(): MatchBudget {
  return { steps: 4_000_000 };
}

export interface UriTemplate {
  /**
   * Whether a server could take the URI for one of the template: wider than RFC 6570, since servers match as they
   * like. What cannot be found out within the budget could be.
   */
  mayMatch(forms: readonly string[], budget: MatchBudget): boolean;
  /** Whether each form of the URI is one of the template, whoever reads it; false where that cannot be found out. */
  surelyMatches(forms: readonly string[], budget: MatchBudget): boolean;
}

type Part = { readonly text: string } | { readonly wild: Wild };
/** What an expression may stand for. */
interface Wild {
  /** It must be followed or be there at all: `{x}` is one character or more. */
  readonly isEmptyAllowed: boolean;
  /** Of the characters; undefined = any. */
  readonly excludes: string | undefined;
  /** What it begins with where it is not empty. */
  readonly first: string;
}

const lengthMax = 2048;
const expressionsMax = 32;

/** @param template a URI template of RFC 6570, as a server listed it */
export function compileUriTemplate(template: string): UriTemplate {
  const texts = [...new Set([template, regularPattern(template, /\{/)])];
  const wide = texts.map((text) => partsOf(text, wideWild));
  const narrow = texts.map((text) => partsOf(text, narrowWild));
  return {
    mayMatch: (forms, budget) =>
      wide.some(
        (parts) =>
          parts === undefined || forms.some((form) => matches(parts, form, budget) ?? true),
      ),
    surelyMatches: (forms, budget) =>
      forms.every((form) =>
        narrow.some((parts) => parts !== undefined && (matches(parts, form, budget) ?? false)),
      ),
  };
}

/** Undefined = it is no template that can be matched. */
function partsOf(template: string, wildOf: (operator: string) => Wild): Part[] | undefined {
  if (template.length > lengthMax) return undefined;
  const parts: Part[] = [];
  let expressions = 0;
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf('{', at);
    const text = template.slice(at, open === -1 ? undefined : open);
    if (text !== '') parts.push({ text });
    if (open === -1) break;
    const close = template.indexOf('}', open);
    if (close === -1 || ++expressions > expressionsMax) return undefined;
    const operator = /^[+#./;?&]/.exec(template.slice(open + 1, close))?.[0] ?? '';
    parts.push({ wild: wildOf(operator) });
    at = close + 1;
  }
  return parts;
}

function wideWild(operator: string): Wild {
  if (operator === '') return { isEmptyAllowed: true, excludes: '/', first: '' };
  return { isEmptyAllowed: true, excludes: undefined, first: operator === '+' ? '' : operator };
}

function narrowWild(operator: string): Wild {
  if (operator === '+') return { isEmptyAllowed: false, excludes: '?#', first: '' };
  if (operator === '') return { isEmptyAllowed: false, excludes: '/?#', first: '' };
  const excludes = operator === '/' ? '?#' : operator === '?' || operator === '&' ? '#' : '/?#';
  return { isEmptyAllowed: true, excludes, first: operator };
}

/**
 * Which places of the text can be reached by the parts so far, one part after the other: no going back, so that time is
 * bounded by the product of the lengths. Undefined = the budget is used up.
 */
function matches(parts: readonly Part[], text: string, budget: MatchBudget): boolean | undefined {
  const [head] = parts;
  if (head !== undefined && 'text' in head && !text.startsWith(head.text)) return false;
  const { length } = text;
  let reached = new Uint8Array(length + 1);
  reached[0] = 1;
  for (const part of parts) {
    budget.steps -= length + 1;
    if (budget.steps < 0) return undefined;
    const next = new Uint8Array(length + 1);
    if ('text' in part) {
      for (let at = 0; at <= length; at++)
        if (reached[at] === 1 && text.startsWith(part.text, at)) {
          budget.steps -= part.text.length;
          next[at + part.text.length] = 1;
        }
    } else stepWild(part.wild, text, reached, next);
    reached = next;
  }
  return reached[length] === 1;
}

function stepWild(wild: Wild, text: string, reached: Uint8Array, next: Uint8Array): void {
  // Whether some beginning further left goes on to here.
  let isOpen = false;
  for (let at = 0; at <= text.length; at++) {
    if (isOpen) next[at] = 1;
    if (reached[at] === 1 && wild.isEmptyAllowed) next[at] = 1;
    if (at === text.length) return;
    const character = text[at] as string;
    const begins = reached[at] === 1 && (wild.first === '' || character === wild.first);
    // What it begins with may be what it excludes.
    if (begins && wild.first !== '') isOpen = true;
    else if (wild.excludes?.includes(character)) isOpen = false;
    else if (begins) isOpen = true;
  }
}
