import { isLineEnd, isWordCharacter } from './char-set.ts';
import type { Assertion } from './syntax.ts';

/** What stands at one side of a position, as far as assertions care. Bits. */
export const edge = 1;
export const lineEnd = 2;
export const word = 4;

/** -1 = beyond the text. */
export function surroundingsOf(unit: number): number {
  if (unit < 0) return edge;
  return (isLineEnd(unit) ? lineEnd : 0) | (isWordCharacter(unit) ? word : 0);
}

export function assertionHolds(what: Assertion, before: number, after: number): boolean {
  switch (what) {
    case 'start':
      return (before & edge) !== 0;
    case 'end':
      return (after & edge) !== 0;
    case 'line-start':
      return (before & (edge | lineEnd)) !== 0;
    case 'line-end':
      return (after & (edge | lineEnd)) !== 0;
    case 'boundary':
      return (before & word) !== (after & word);
    case 'no-boundary':
      return (before & word) === (after & word);
  }
}
