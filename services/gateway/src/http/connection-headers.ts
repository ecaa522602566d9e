/** Headers that belong to one connection, never to the next. */
export const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
  'content-length',
]);

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
