import { SeenIds } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import {
  type BatchUse,
  batchRowReader,
  isEndedBatch,
  type JsonObject,
  LargeRow,
  notRunFault,
  type OutputPlace,
  type RowOptions,
  tooLargeLine,
  tooLargeResult,
  type UnifiedRow,
  VendorRefusal,
} from '@sluice/providers';
import type { BodyReply } from '../exchange/reply.ts';
import type { AskVendor, MadeReply, VendorAnswer } from '../exchange/vendor-work.ts';
import { rowLines } from '../http/row-lines.ts';
import { documentOf } from '../owners/ids-in-reply.ts';
import type { AskingBatches } from './asking-batches.ts';
import type { BatchBill } from './batch-bills.ts';
import { modelOfFirstLine } from './first-line-model.ts';
import { type NotRun, notRunLines } from './not-run-lines.ts';
import { rowBytesMax } from './row-bytes-max.ts';
import { openFile, openRequest, urlOf } from './vendor-content.ts';

/** What is in the files of a batch that has ended, row by row, and billed on its way. @throws GatewayError while it has not */
export async function outputOf(
  asking: AskingBatches,
  use: BatchUse,
  askVendor: AskVendor,
  signal: AbortSignal,
): Promise<BodyReply | MadeReply> {
  const { batches, id, operation, visit, rules, target } = asking;
  const batch =
    batches.retrieve === undefined
      ? batchIn(
          await use.ask({
            method: 'GET',
            url: urlOf(asking, `/batches/${encodeURIComponent(id)}`),
          }),
        )
      : await batches.retrieve(id, use);
  if (!isEndedBatch(batch) && operation === 'output')
    throw new GatewayError('batch.not_finished', {
      message: `The batch is ${String(batch.status)}: its output is there when it has ended.`,
      headers: { 'retry-after': '5' },
    });
  const places = await batches.output(batch, use);
  const [first, ...rest] = places;
  const open = (place: OutputPlace) => openPlace(place, asking, askVendor, signal);
  const opened = first && (await open(first));
  const bill = await rules.batchBills?.open(visit, {
    id,
    createdAtMs: typeof batch.created_at === 'number' ? batch.created_at * 1000 : 0,
    modelOf: (onUnread) => modelOf(batch, open, onUnread),
  });
  const query = new URLSearchParams(visit.exchange.subject.search);
  const isNative = operation === 'results';
  const dialect = isNative ? 'anthropic' : target.entry.id;
  const options: RowOptions = {
    setting: asking.context.setting,
    nowMs: use.nowMs,
    strictOpenAiCompliance: target.strictOpenAiCompliance,
    endpoint:
      operation === 'results' ? '/v1/messages' : (query.get('endpoint') ?? endpointOf(batch)),
    ...(typeof batch.model === 'string' ? { model: batch.model } : {}),
  };
  // Anthropic's own results tell each line.
  const fault = isNative ? undefined : notRunFault(batch.status);
  return {
    kind: 'made',
    headers: {
      'content-type': isNative ? 'application/x-jsonl' : 'application/octet-stream',
      ...(isNative
        ? {}
        : { 'content-disposition': `attachment; filename="${id.replace(/[^\w-]/g, '_')}.jsonl"` }),
      'cache-control': 'private, no-store',
    },
    content: rowsOf(
      answersOf(opened, rest, open),
      {
        read: batchRowReader(dialect, options),
        openLarge: () => new LargeRow(dialect, options),
        bill,
        isNative,
      },
      fault && { fault, openInput: () => openInput(batch, open), providerId: target.entry.id },
    ),
  };
}

/** Anthropic does not say what was asked: who asks for the output of a batch in OpenAI's words gets chat's. */
function endpointOf({ endpoint, model }: JsonObject): string {
  return typeof endpoint === 'string' && !(endpoint === '/v1/messages' && model === undefined)
    ? endpoint
    : '/v1/chat/completions';
}

type Open = (place: OutputPlace) => Promise<VendorAnswer | undefined>;

/** The files of the results, each opened when the one before it has been read. */
async function* answersOf(
  opened: VendorAnswer | undefined,
  rest: readonly OutputPlace[],
  open: Open,
): AsyncGenerator<VendorAnswer, void> {
  let answer = opened;
  for (let at = 0; answer !== undefined; at++) {
    yield answer;
    const next = rest[at];
    answer = next && (await open(next).catch(refusalAsError));
  }
}

interface RowReader {
  readonly read: (line: Uint8Array) => UnifiedRow | undefined;
  /** For a row that is more than may be held. */
  readonly openLarge: () => LargeRow;
  readonly bill: BatchBill | undefined;
  /** Lines go on as they came. */
  readonly isNative: boolean;
}

/** Of a batch that ended before all its lines were run. */
interface NotRunRows extends Pick<NotRun, 'fault' | 'providerId'> {
  /** What went up; undefined = nobody knows it any more. */
  readonly openInput: () => Promise<VendorAnswer | undefined>;
}

async function* rowsOf(
  answers: AsyncIterable<VendorAnswer>,
  reader: RowReader,
  notRun: NotRunRows | undefined,
): AsyncGenerator<Buffer, void> {
  const told = new SeenIds();
  let number = 0;
  for await (const answer of answers)
    for await (const line of rowLines(answer.pieces(), rowBytesMax, reader.openLarge)) {
      const isLarge = !Buffer.isBuffer(line);
      const row = isLarge ? line.end() : reader.read(line);
      if (row === undefined && !isLarge) continue;
      const isNews = row !== undefined && told.add(row.customId, ++number) === undefined;
      // Told again it is the same record, and counts no more than that.
      if (isNews) await reader.bill?.hear(row);
      const own = isLarge ? tooLargeResult(row?.customId) : line;
      yield Buffer.concat([reader.isNative ? own : (row?.bytes ?? tooLargeLine()), lineEnd]);
    }
  await reader.bill?.end();
  const input = await notRun?.openInput();
  if (notRun === undefined || input === undefined) return;
  for await (const line of notRunLines({ ...notRun, input: input.pieces(), told }))
    yield Buffer.concat([line, lineEnd]);
}

const lineEnd = Buffer.from('\n');

function refusalAsError(error: unknown): never {
  if (!(error instanceof VendorRefusal)) throw error;
  throw new GatewayError('upstream.invalid_response', {
    message: `The provider answered ${error.status} to the request for a file of results.`,
  });
}

/** That was asked, which OpenAI's own object does not say: it has the one that answers. '' = it is not known. */
async function modelOf(
  batch: JsonObject,
  open: Open,
  onUnread: (error: unknown) => void,
): Promise<string> {
  let asked = '';
  try {
    const input = await openInput(batch, open);
    asked = input === undefined ? '' : await modelOfFirstLine(input.pieces());
  } catch (error) {
    // The output is given all the same.
    onUnread(error);
  }
  return asked || (typeof batch.model === 'string' ? batch.model : '');
}

/** What is refused, e.g. since it was deleted, leaves the lines that the results tell. */
async function openInput(
  { input_file_id: id }: JsonObject,
  open: Open,
): Promise<VendorAnswer | undefined> {
  if (typeof id !== 'string' || id === '') return undefined;
  try {
    return await open({ kind: 'file', id });
  } catch (error) {
    if (error instanceof VendorRefusal && error.status < 500) return undefined;
    if (error instanceof GatewayError && error.status < 500) return undefined;
    return refusalAsError(error);
  }
}

async function openPlace(
  place: OutputPlace,
  asking: AskingBatches,
  askVendor: AskVendor,
  signal: AbortSignal,
): Promise<VendorAnswer | undefined> {
  if (place.kind === 'request') return openRequest(place.request, asking, askVendor, signal);
  const ids = [place.id, ...(place.orElse ?? [])];
  for (const id of ids) {
    try {
      return await openFile(id, asking, askVendor, signal);
    } catch (error) {
      const isAbsent = error instanceof VendorRefusal && error.status === 404;
      if (!isAbsent || (id === ids.at(-1) && place.mayBeAbsent !== true)) throw error;
    }
  }
  return undefined;
}

function batchIn({ bytes }: { bytes: Buffer }): JsonObject {
  const document = documentOf(bytes);
  if (document !== undefined) return document as JsonObject;
  throw new GatewayError('upstream.invalid_response', {
    message: 'The provider answered with something else than a batch.',
  });
}
