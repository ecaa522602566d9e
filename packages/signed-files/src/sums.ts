/** What is wrong with a signed folder, by the name of the file. */
export class SignatureFault extends Error {
  override readonly name = 'SignatureFault';

  constructor(file: string, reason: string) {
    super(`${file}: ${reason}`);
  }
}

export const sumsName = 'SHA256SUMS';
export const signatureName = 'SHA256SUMS.sig';

const pathPattern = /^[A-Za-z0-9_][A-Za-z0-9._+@-]*(?:\/[A-Za-z0-9_][A-Za-z0-9._+@-]*)*$/;

/** As `sha256sum` writes it, in the order of the paths. @throws SignatureFault for a name that a shell could misread */
export function writeSums(sums: ReadonlyMap<string, string>): string {
  return [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, hex]) => {
      if (!pathPattern.test(path)) throw new SignatureFault(path, 'has a name that is not plain');
      return `${hex}  ${path}\n`;
    })
    .join('');
}

/** Hashes by path. @throws SignatureFault for a line that is none, or a path that is there twice */
export function readSums(text: string): ReadonlyMap<string, string> {
  const sums = new Map<string, string>();
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new SignatureFault(sumsName, 'does not end with a line break');
  for (const [at, line] of lines.entries()) {
    const [, hex, path] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    if (hex === undefined || path === undefined || !pathPattern.test(path))
      throw new SignatureFault(sumsName, `line ${at + 1} is no line of sha256sum`);
    if (sums.has(path)) throw new SignatureFault(sumsName, `has ${path} twice`);
    sums.set(path, hex);
  }
  return sums;
}
