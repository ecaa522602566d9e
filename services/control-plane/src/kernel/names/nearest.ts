import { closestMatch } from 'leven';

const namedMax = 40;

/** For the end of an error's sentence: the name that may have been meant, or all that there are. */
export function nearestAdvice(name: string, known: readonly string[]): string {
  if (known.length === 0) return '; there are none';
  const nearest = name.length > 64 ? undefined : closestMatch(name, [...known], { maxDistance: 3 });
  if (nearest !== undefined) return `; did you mean ${nearest}?`;
  const named = known.slice(0, namedMax).join(', ');
  return `; there are ${named}${known.length > namedMax ? ' …' : ''}`;
}
