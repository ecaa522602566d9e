/** What a source file imports, without its strings and comments getting in the way. */
export interface SourceImport {
  specifier: string;
  line: number;
  /** Types leave nothing behind at run time. */
  isType: boolean;
}

const patterns = [
  /^[ \t]*import\b(\s+type\b)?(?:[^'"`;=()]*?\bfrom)?\s*(['"])([^'"\n]+)\2/gm,
  /^[ \t]*export(\s+type)?\s*(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?)\s*from\s*(['"])([^'"\n]+)\2/gm,
  /\bimport()\(\s*(['"])([^'"\n]+)\2\s*\)/g,
];

/** Static imports, re-exports and dynamic imports of a literal, in the order of their lines. */
export function importsOf(source: string): SourceImport[] {
  const text = blankComments(source);
  const found = patterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => ({
      specifier: match[3] as string,
      line: lineAt(text, match.index),
      isType: /type/.test(match[1] ?? ''),
    })),
  );
  return found.sort((one, other) => one.line - other.line);
}

/** Lines that export everything of another file. */
export function exportAllLines(source: string): number[] {
  const text = blankComments(source);
  return [...text.matchAll(/^[ \t]*export\s+(?:type\s+)?\*/gm)].map((match) =>
    lineAt(text, match.index),
  );
}

/** Comments become blanks, so that lines keep their numbers. */
function blankComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\/|^[ \t]*\/\/[^\n]*/gm, (comment) =>
    comment.replaceAll(/[^\n]/g, ' '),
  );
}

function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1))
    line += 1;
  return line;
}
