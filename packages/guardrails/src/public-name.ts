/**
 * Whether a host is written as a name that all of the internet could know: no
 * address, no single label, no domain that private networks use.
 */
export function isPublicName(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  const labels = name.split('.');
  const last = labels.at(-1) ?? '';
  return (
    labels.length > 1 && /^([a-z]{2,63}|xn--[a-z0-9-]{1,59})$/.test(last) && !privateEnds.has(last)
  );
}

const privateEnds: ReadonlySet<string> = new Set([
  'arpa',
  'corp',
  'home',
  'internal',
  'intranet',
  'lan',
  'local',
  'localdomain',
  'localhost',
  'private',
  'test',
]);
