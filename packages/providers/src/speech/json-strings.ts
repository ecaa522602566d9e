import { parseJson, stringOf } from '../json/json-access.ts';

/**
 * The values in a piece of JSON text that begins and ends anywhere: strings and
 * numbers, so that checks see words and not escapes, and what replaces them
 * leaves JSON behind. What a model writes that is no JSON is a value as it stands.
 */
export interface JsonPiece {
  /** Strings without their escapes, numbers, and words that stand loose. */
  readonly values: readonly string[];
  /** The piece with others in their place. */
  withValues(values: readonly string[]): string;
  /** The last position up to `at` where the piece can be cut: in no escape, and in no number. */
  cutBefore(at: number): number;
  /** Whether the piece, cut at this position, ends inside a string. */
  endsInString(at: number): boolean;
}

interface Token {
  readonly kind: 'string' | 'number' | 'literal' | 'loose' | 'syntax';
  readonly start: number;
  readonly end: number;
}

/** @param inString the piece begins inside a string */
export function jsonPiece(raw: string, inString: boolean): JsonPiece {
  const tokens = tokensOf(raw, inString);
  const valued = tokens.filter(({ kind }) => isValue(kind));
  const values = valued.map(({ kind, start, end }) => {
    const text = raw.slice(start, end);
    return kind === 'string' ? unescaped(text) : text;
  });
  return {
    values,
    withValues(others) {
      let next = 0;
      return tokens
        .map(({ kind, start, end }) => {
          if (!isValue(kind)) return raw.slice(start, end);
          const at = next++;
          const other = others[at];
          if (other === undefined || other === values[at]) return raw.slice(start, end);
          if (kind === 'loose') return other;
          return kind === 'number' ? JSON.stringify(other) : escaped(other);
        })
        .join('');
    },
    cutBefore(at) {
      for (const { kind, start, end } of tokens) {
        if (at <= start || at > end) continue;
        if ((kind === 'number' || kind === 'literal') && at < end) return start;
        if (kind === 'string') return outsideEscape(raw, start, at);
      }
      return at;
    },
    endsInString: (at) =>
      tokens.reduce(
        (inside, { kind, start, end }) =>
          kind === 'syntax' && start < at
            ? quotesIn(raw.slice(start, Math.min(end, at)), inside)
            : inside,
        inString,
      ),
  };
}

/** The text as it stands within the quotes of a JSON string. */
export function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function unescaped(raw: string): string {
  if (!raw.includes('\\')) return raw;
  // A piece may begin or end within an escape, and a model may write what is no JSON.
  return stringOf(parseJson(`"${raw}"`)) ?? raw;
}

function quotesIn(syntax: string, inside: boolean): boolean {
  return (syntax.split('"').length - 1) % 2 === 0 ? inside : !inside;
}

function tokensOf(raw: string, inString: boolean): Token[] {
  const tokens: Token[] = [];
  let start = 0;
  let inside = inString;
  const push = (kind: Token['kind'], end: number) => {
    if (end > start) tokens.push({ kind, start, end });
    start = end;
  };
  for (let at = 0; at < raw.length; ) {
    if (inside) {
      const end = endOfString(raw, at);
      push('string', end);
      at = end;
      inside = false;
      // The quote belongs to what follows.
      if (at < raw.length) at += 1;
      continue;
    }
    if (!syntax.test(raw[at] ?? '')) {
      push('syntax', at);
      const kind = kinds.find(([, form]) => {
        form.lastIndex = at;
        return form.test(raw);
      });
      push(kind?.[0] ?? 'loose', kind?.[1].lastIndex ?? at + 1);
      at = start;
      continue;
    }
    at += 1;
    if (raw[at - 1] === '"') {
      push('syntax', at);
      inside = true;
    }
  }
  push(inside ? 'string' : 'syntax', raw.length);
  return tokens;
}

function isValue(kind: Token['kind']): boolean {
  return kind === 'string' || kind === 'number' || kind === 'loose';
}

const syntax = /[\s"{}[\],:]/;

/** What may stand outside of strings, and before what. */
const kinds: readonly (readonly [Token['kind'], RegExp])[] = [
  ['number', /-?\d[\d.eE+-]{0,400}(?=\s*(?:[,}\]]|$))/y],
  ['literal', /(?:true|false|null)(?=\s*(?:[,}\]]|$))/y],
  ['loose', /[^"{}[\],:]+/y],
];

/** Where the string ends that goes on at `from`: its quote, or the end of what there is. */
function endOfString(raw: string, from: number): number {
  for (let at = from; at < raw.length; at += 1) {
    if (raw[at] === '\\') at += 1;
    else if (raw[at] === '"') return at;
  }
  return raw.length;
}

function outsideEscape(raw: string, start: number, at: number): number {
  for (let from = start; from < at; ) {
    const length = raw[from] !== '\\' ? 1 : raw[from + 1] === 'u' ? 6 : 2;
    if (from + length > at) return from;
    from += length;
  }
  return at;
}
