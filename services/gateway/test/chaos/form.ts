import { isLongForm } from '@sluice/testkit';

/** `npm run chaos` is the long way; the suite goes a short one. */
export const isFull = isLongForm;

/** For whoever goes the long way. */
export function tell(...lines: readonly string[]): void {
  if (isFull) process.stdout.write(`${lines.join('\n')}\n`);
}
