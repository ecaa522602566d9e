/** Languages of code, with what authors and models label blocks by beside the name. */
const labels: Readonly<Record<string, readonly string[]>> = {
  SQL: ['mysql', 'postgresql', 'postgres', 'pgsql', 'plsql', 'tsql'],
  Python: ['py', 'gyp', 'python3', 'py3'],
  TypeScript: ['ts', 'tsx', 'mts', 'cts'],
  JavaScript: ['js', 'jsx', 'mjs', 'cjs', 'node'],
  Java: [],
  'C#': ['cs', 'csharp'],
  'C++': ['cpp', 'cc', 'cxx', 'hpp'],
  C: ['h'],
  Ruby: ['rb'],
  PHP: [],
  Swift: [],
  Kotlin: ['kt', 'kts'],
  Go: ['golang'],
  Rust: ['rs'],
  Scala: [],
  R: [],
  Perl: ['pl', 'pm'],
  Shell: ['sh', 'bash', 'zsh', 'console', 'shellscript'],
  HTML: ['htm', 'xhtml'],
  CSS: [],
  XML: [],
  JSON: [],
  YAML: ['yml'],
  Markdown: ['md'],
  Dockerfile: ['docker'],
  PowerShell: ['ps1', 'pwsh', 'ps'],
  'Objective-C': ['objc', 'objectivec'],
  Makefile: ['make', 'mk'],
};

const languageByLabel: ReadonlyMap<string, string> = new Map(
  Object.entries(labels).flatMap(([name, others]) => {
    const language = name.toLowerCase();
    return [language, ...others].map((label) => [label, language] as const);
  }),
);

/** The language that a label means, in lower case; the label itself when it is of none that is known. */
export function languageOf(label: string): string {
  const lower = label.toLowerCase();
  return languageByLabel.get(lower) ?? lower;
}

export function isLanguage(label: string): boolean {
  return languageByLabel.has(label.toLowerCase());
}
