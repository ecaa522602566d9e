import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Line, linesOf } from './lines.ts';
import { type LineFault, readLine } from './read-line.ts';
import { SeenIds } from './seen-ids.ts';

export interface LineRules {
  readonly endpoint: string;
  readonly linesMax: number;
  readonly lineBytesMax: number;
}

/** What is told of the faults of one batch. */
export const faultsMax = 100;
/** As much as others wait for. */
const bytesPerTurn = 128 * 1024;

/** Looks at all lines before any is run: how many there are, and the first faults. */
export async function checkLines(
  pieces: AsyncIterable<Buffer>,
  { endpoint, linesMax, lineBytesMax }: LineRules,
): Promise<{ total: number; faults: readonly LineFault[] }> {
  const seen = new SeenIds();
  const faults: LineFault[] = [];
  let total = 0;
  let sinceTurn = 0;
  for await (const line of linesOf(pieces, lineBytesMax)) {
    total += 1;
    if (total > linesMax) {
      faults.push(ofFile('too_many_lines', `A batch may have ${linesMax} lines.`));
      break;
    }
    const fault = faultOf(line, endpoint, seen);
    if (fault !== undefined) faults.push(fault);
    if (faults.length === faultsMax) break;
    sinceTurn += line.bytes?.length ?? 0;
    if (sinceTurn < bytesPerTurn) continue;
    sinceTurn = 0;
    await nextTurn();
  }
  if (total === 0) faults.push(ofFile('empty_file', 'The file has no lines.'));
  return { total, faults };
}

function faultOf(line: Line, endpoint: string, seen: SeenIds): LineFault | undefined {
  const read = readLine(line, endpoint);
  if ('code' in read) return read;
  const before = seen.add(read.customId, line.number);
  if (before === undefined) return undefined;
  return {
    code: 'duplicate_custom_id',
    message: `Line ${before} has the same custom_id.`,
    param: 'custom_id',
    line: line.number,
  };
}

function ofFile(code: string, message: string): LineFault {
  return { code, message, param: null, line: null };
}
