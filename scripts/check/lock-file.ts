/** Lines of a lock or settings file that name an address to download from, as `line: text`. */
export function findAddresses(text: string): string[] {
  return text
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(
      ({ line }) =>
        /\b(https?|git\+\w+|ssh):\/\//.test(line) ||
        /^\s*(tarball|resolved|registry)\s*[:=]/.test(line),
    )
    .filter(({ line }) => !line.trimStart().startsWith('#') && !/^\s*deprecated:/.test(line))
    .map(({ line, number }) => `${number}: ${line.trim()}`);
}
