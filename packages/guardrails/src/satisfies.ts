/** Whether so many found of so many sought is what the operator asks for. */
export function satisfies(
  operator: 'all' | 'any' | 'none',
  found: number,
  sought: number,
): boolean {
  switch (operator) {
    case 'all':
      return found === sought;
    case 'any':
      return found > 0;
    case 'none':
      return found === 0;
  }
}
