/** A fenced block of a page that a reader may run. */
export interface CodeBlock {
  readonly language: string;
  readonly code: string;
  /** The first line of it, by which it is named. */
  readonly title: string;
  readonly line: number;
  /** What `<!-- run … -->` above it says; undefined where it is not run. */
  readonly run: RunNote | undefined;
  /** JSON below it, marked `<!-- shows -->`: what its last answer looks like. */
  shows?: unknown;
}

/**
 * `<!-- run NAME=path … -->` above a block has it run, a paragraph after the other. What a reader would copy out of an answer is
 * taken from there: `KEY_ID=id` is `id` of the first answer of a paragraph that has it. `400` is the status that an answer of
 * the block may have beside those of success.
 */
export interface RunNote {
  readonly taken: readonly { name: string; path: readonly string[] }[];
  readonly refusals: readonly number[];
}

const runnable = new Set(['sh', 'bash', 'js', 'ts', 'python']);

/** All blocks of code of a page in their order; those that show something (`json`, `text`) are none. */
export function codeBlocks(page: string): CodeBlock[] {
  const lines = page.split('\n');
  const blocks: CodeBlock[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [, language] = lines[at]?.match(/^```(\w+)/) ?? [];
    if (language === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    const code = lines.slice(at + 1, end);
    const last = blocks.at(-1);
    if (language === 'json' && noteAbove(lines.slice(0, at)) === '<!-- shows -->' && last)
      last.shows = JSON.parse(code.join('\n'));
    if (runnable.has(language))
      blocks.push({
        language,
        code: code.join('\n'),
        title: code[0] ?? '',
        line: at + 1,
        run: runNote(lines.slice(0, at)),
      });
    at = end;
  }
  return blocks;
}

/** The JSON blocks of a page that are marked `<!-- config -->`: what a workspace can save, each with its line. */
export function configsIn(page: string): { line: number; config: unknown }[] {
  const lines = page.split('\n');
  return lines.flatMap((text, at) => {
    if (text !== '```json' || noteAbove(lines.slice(0, at)) !== '<!-- config -->') return [];
    const code = lines.slice(at + 1, lines.indexOf('```', at + 1));
    return [{ line: at + 1, config: JSON.parse(code.join('\n')) as unknown }];
  });
}

/** A note stands above its block, with an empty line between them. */
function noteAbove(above: readonly string[]): string | undefined {
  return above.findLast((line) => line.trim() !== '');
}

function runNote(above: readonly string[]): RunNote | undefined {
  const [, note] = noteAbove(above)?.match(/^<!-- run\b(.*)-->$/) ?? [];
  if (note === undefined) return undefined;
  const words = note.trim().split(/\s+/).filter(Boolean);
  return {
    taken: words
      .filter((word) => word.includes('='))
      .map((word) => {
        const [name = '', path = ''] = word.split('=');
        return { name, path: path.split('.') };
      }),
    refusals: words.filter((word) => /^\d+$/.test(word)).map(Number),
  };
}

/** What of a block is run at once: its commands between empty lines, or all of it where a text within it has one. */
export function paragraphs(code: string): string[] {
  return code.includes('<<') ? [code] : code.split(/\n\s*\n/);
}

/** The JSON documents in what was printed, whatever stands around them. */
export function jsonIn(printed: string): unknown[] {
  return printed.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as unknown];
    } catch {
      return [];
    }
  });
}

export function valueAt(document: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | undefined)?.[name],
    document,
  );
}

/** The fields that are shown and were not answered, or as something else, as paths. Of a list a page may show a part. */
export function missingFields(shown: unknown, answered: unknown, at = 'answer'): string[] {
  const kindOf = (value: unknown) =>
    Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value;
  if (kindOf(shown) !== kindOf(answered)) return [`${at}: is ${kindOf(answered)}`];
  if (Array.isArray(shown) && Array.isArray(answered))
    return shown.flatMap((each, index) => {
      const faults = answered.map((one) => missingFields(each, one, `${at}[${index}]`));
      return faults.sort((one, other) => one.length - other.length)[0] ?? [`${at}: is empty`];
    });
  if (kindOf(shown) !== 'object') return [];
  return Object.entries(shown as object).flatMap(([name, value]) =>
    missingFields(value, (answered as Record<string, unknown>)[name], `${at}.${name}`),
  );
}
