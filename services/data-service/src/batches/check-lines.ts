import { setImmediate as nextTurn } from 'node:timers/promises';
import { SeenIds } from '@sluice/contracts';
import { type Line, linesOf } from './lines.ts';
import { type LineFault, readLine } from './read-line.ts';

export interface LineRules {
  readonly endpoint: string;
  readonly linesMax: number;
  readonly lineBytesMax: number;
  /** A provider runs them, which knows nothing of providers in front of models, and may take one model for all. */
  readonly models?: 'of one provider' | 'one';
}

/** What is told of the faults of one batch. */
export const faultsMax = 100;
/** As much as others wait for. */
const bytesPerTurn = 128 * 1024;

/** Looks at all lines before any is run: how many there are, and the first faults. */
export async function checkLines(
  pieces: AsyncIterable<Buffer>,
  rules: LineRules,
): Promise<{ total: number; faults: readonly LineFault[] }> {
  const { linesMax, lineBytesMax } = rules;
  const seen: Seen = { ids: new SeenIds() };
  const faults: LineFault[] = [];
  let total = 0;
  let sinceTurn = 0;
  for await (const line of linesOf(pieces, lineBytesMax)) {
    total += 1;
    if (total > linesMax) {
      faults.push(ofFile('too_many_lines', `A batch may have ${linesMax} lines.`));
      break;
    }
    const fault = faultOf(line, rules, seen);
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

/** What lines before had. */
interface Seen {
  readonly ids: SeenIds;
  model?: unknown;
}

function faultOf(line: Line, { endpoint, models }: LineRules, seen: Seen): LineFault | undefined {
  const read = readLine(line, endpoint);
  if ('code' in read) return read;
  const { number, customId, model, isBackground } = read;
  const fault = (code: string, message: string, param: string): LineFault => ({
    code,
    message,
    param,
    line: number,
  });
  // Its answer would be that it is queued.
  if (isBackground && endpoint === '/v1/responses')
    return fault(
      'background_not_supported',
      'A line of a batch is not made in the background.',
      'body.background',
    );
  const before = seen.ids.add(customId, number);
  if (before !== undefined)
    return fault('duplicate_custom_id', `Line ${before} has the same custom_id.`, 'custom_id');
  if (models === undefined || model === undefined) return undefined;
  const mismatched = (what: string) => fault('mismatched_model', what, 'body.model');
  if (typeof model === 'string' && /^@[^/]+\//.test(model))
    return mismatched(
      'service_options name the provider of all lines: name the model as that provider does.',
    );
  seen.model ??= model;
  return models === 'of one provider' || model === seen.model
    ? undefined
    : mismatched('The lines before name another model, and the provider runs a batch with one.');
}

function ofFile(code: string, message: string): LineFault {
  return { code, message, param: null, line: null };
}
