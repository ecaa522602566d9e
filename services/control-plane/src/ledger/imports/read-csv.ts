import { faultAt } from './exported-use.ts';

/** A line by the names of the columns, and where it stands. */
export interface CsvRow {
  readonly line: number;
  readonly fields: Readonly<Record<string, string>>;
}

const rowsMax = 50_000;

/**
 * The lines below the head of a CSV text (RFC 4180): quoted fields may hold commas, quotes and line ends.
 * @throws GatewayError with the line of the fault
 */
export function readCsv(text: string): CsvRow[] {
  const [head, ...lines] = cells(text.replace(/^\uFEFF/, ''));
  if (head === undefined) throw faultAt('line 1', 'is empty');
  const names = head.values.map((name) => name.trim().toLowerCase());
  if (lines.length > rowsMax) throw faultAt(`line ${rowsMax + 2}`, 'is one too many');
  return lines.map(({ line, values }) => {
    if (values.length !== names.length)
      throw faultAt(`line ${line}`, `has ${values.length} fields, the head ${names.length}`);
    return { line, fields: Object.fromEntries(names.map((name, at) => [name, values[at] ?? ''])) };
  });
}

interface Line {
  line: number;
  values: string[];
}

const token = /"((?:[^"]|"")*)"|([^",\r\n]*)/y;

function cells(text: string): Line[] {
  const lines: Line[] = [];
  let number = 1;
  for (let at = 0; at < text.length; number += 1) {
    const values: string[] = [];
    const line = number;
    for (;;) {
      token.lastIndex = at;
      const [whole = '', quoted, plain = ''] = token.exec(text) ?? [];
      at += whole.length;
      number += quoted?.split('\n').length ?? 1;
      number -= 1;
      values.push(quoted?.replaceAll('""', '"') ?? plain);
      if (text[at] === ',') at += 1;
      else break;
    }
    if (at < text.length && !/[\r\n]/.test(text[at] ?? ''))
      throw faultAt(`line ${line}`, 'has a quote that is not closed, or text behind one');
    at += text.startsWith('\r\n', at) ? 2 : 1;
    if (values.length > 1 || values[0] !== '') lines.push({ line, values });
  }
  return lines;
}
