import type { SeenIds } from '@sluice/contracts';
import { SkimmedJson } from '@sluice/json';
import { type JsonObject, notRunLine, rowId } from '@sluice/providers';
import { rowLines } from '../http/row-lines.ts';
import { documentOf } from '../owners/ids-in-reply.ts';
import { rowBytesMax } from './row-bytes-max.ts';

export interface NotRun {
  /** The lines of the batch as they went up. */
  readonly input: AsyncIterable<Buffer>;
  readonly providerId: string;
  /** The lines that its results tell. */
  readonly told: SeenIds;
  /** Why the others were not run. */
  readonly fault: { readonly code: string; readonly message: string };
}

/** Lines that a batch has never run: vendors say nothing of them, or of some. Each without a line end. */
export async function* notRunLines({
  input,
  providerId,
  told,
  fault,
}: NotRun): AsyncGenerator<Buffer, void> {
  let number = 0;
  for await (const line of rowLines(input, rowBytesMax, () => new SkimmedJson())) {
    const row = Buffer.isBuffer(line) ? (documentOf(line) ?? skimmed(line)) : line.object();
    const id = rowId(providerId, (row ?? {}) as JsonObject);
    if (id === undefined || told.add(id, ++number) !== undefined) continue;
    yield notRunLine(id, fault);
  }
}

/** Of a line that has more in it than is parsed. */
function skimmed(line: Buffer): Record<string, unknown> | undefined {
  const skim = new SkimmedJson();
  skim.add(line);
  return skim.object();
}
