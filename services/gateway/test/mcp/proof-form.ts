/** `npm run mcp:proofs` is the long way; the suite goes a short one. */
export const isFull = process.env.SLUICE_MCP_PROOFS === 'full';

/** For whoever goes the long way. */
export function tell(line: string): void {
  if (isFull) process.stdout.write(`${line}\n`);
}

/** A size of the short form, and of the long one. */
export function size(short: number, full: number): number {
  return isFull ? full : short;
}
