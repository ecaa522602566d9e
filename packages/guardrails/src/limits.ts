/** Whether a count stands within its limits, both included. */
export function isWithin(count: number, min: number, max: number): boolean {
  return count >= min && count <= max;
}

export function explainLimits(count: number, what: string, min: number, max: number): string {
  const where = isWithin(count, min, max) ? 'within' : 'outside';
  return `The text has ${count} ${what}, ${where} the limits of ${min} to ${max}.`;
}
