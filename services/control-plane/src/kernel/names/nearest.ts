import { closestMatch } from 'leven';

/** How many names an error lists. */
export const namedMax = 40;

/** The name that may have been meant. */
export function nearestOf(name: string, known: readonly string[]): string | undefined {
  return name.length > 64 ? undefined : closestMatch(name, [...known], { maxDistance: 3 });
}

/** For the end of an error's sentence: the name that may have been meant, or all that there are. */
export function nearestAdvice(name: string, known: readonly string[]): string {
  if (known.length === 0) return '; there are none';
  const nearest = nearestOf(name, known);
  if (nearest !== undefined) return `; did you mean ${nearest}?`;
  const named = known.slice(0, namedMax).join(', ');
  return `; there are ${named}${known.length > namedMax ? ' …' : ''}`;
}
