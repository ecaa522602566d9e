export const allAnyNone = ['all', 'any', 'none'] as const;

export type AllAnyNone = (typeof allAnyNone)[number];

/** Whether so many found of so many sought is what the operator asks for. */
export function satisfies(operator: AllAnyNone, found: number, sought: number): boolean {
  switch (operator) {
    case 'all':
      return found === sought;
    case 'any':
      return found > 0;
    case 'none':
      return found === 0;
  }
}
