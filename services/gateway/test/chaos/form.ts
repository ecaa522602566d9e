/** `npm run chaos` is the long way; the suite goes a short one. */
export const isFull = process.env.SLUICE_CHAOS === 'full';

/** For whoever goes the long way. */
export function tell(...lines: readonly string[]): void {
  if (isFull) process.stdout.write(`${lines.join('\n')}\n`);
}
