export { hopByHop } from '@sluice/contracts';

/** The headers that `Connection` declares to be of this connection only. */
export function connectionTokens(
  value: string | readonly string[] | undefined,
): Set<string> | undefined {
  if (value === undefined || value === 'keep-alive' || value === 'close') return undefined;
  // Sent twice, it comes as a list.
  return new Set(
    String(value)
      .split(',')
      .map((token) => token.trim().toLowerCase()),
  );
}
