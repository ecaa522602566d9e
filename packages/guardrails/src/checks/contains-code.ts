import { fencedBlocks } from '../fenced-blocks.ts';
import { requiredText } from '../parameters.ts';
import { textCheck } from '../text-check.ts';

/** Looks for a fenced block in a language, by any of its names. */
export const containsCode = textCheck('default.containsCode', (parameters) => {
  const format = requiredText(parameters, 'format');
  const wanted = languageOf(format);
  return (text) => {
    const languages = [...new Set(fencedBlocks(text).map(({ language }) => languageOf(language)))];
    const passes = languages.includes(wanted);
    return {
      passes,
      explanation:
        languages.length === 0
          ? 'The text has no code blocks.'
          : `The text ${passes ? 'has' : 'has no'} code in ${format}.`,
      data: { format, foundFormats: languages.filter((language) => language !== '') },
    };
  };
});

function languageOf(name: string): string {
  const lower = name.toLowerCase();
  return languageByAlias.get(lower) ?? lower;
}

/** How authors and models label blocks, by the language they mean. */
const languageByAlias = new Map(
  Object.entries({
    python: ['py', 'gyp', 'python3', 'py3'],
    typescript: ['ts', 'tsx', 'mts', 'cts'],
    javascript: ['js', 'jsx', 'mjs', 'cjs', 'node'],
    'c#': ['cs', 'csharp'],
    'c++': ['cpp', 'cc', 'cxx', 'hpp'],
    c: ['h'],
    go: ['golang'],
    ruby: ['rb'],
    kotlin: ['kt', 'kts'],
    rust: ['rs'],
    perl: ['pl', 'pm'],
    shell: ['sh', 'bash', 'zsh', 'console', 'shellscript'],
    powershell: ['ps1', 'pwsh', 'ps'],
    yaml: ['yml'],
    markdown: ['md'],
    'objective-c': ['objc', 'objectivec'],
    dockerfile: ['docker'],
    makefile: ['make', 'mk'],
    html: ['htm', 'xhtml'],
    sql: ['mysql', 'postgresql', 'postgres', 'pgsql', 'plsql', 'tsql'],
  }).flatMap(([language, aliases]) => aliases.map((alias) => [alias, language] as const)),
);
