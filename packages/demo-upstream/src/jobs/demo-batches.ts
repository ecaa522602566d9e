import { type DemoAnswer, isObject, type JsonObject, VendorFault } from '../protocol.ts';
import { DemoFiles, pageOf, parsed } from './demo-files.ts';

/** What the demo answers to one line of a batch; undefined = the path has no answer that is JSON. @throws VendorFault */
export type AnswerLine = (path: string, body: string) => unknown;

/** Files and batches over them; undefined = the path is of neither. */
export interface DemoBatches {
  answer(
    method: string,
    url: string,
    contentType: string,
    readBytes: () => Promise<Buffer>,
  ): Promise<DemoAnswer> | undefined;
}

interface Batch {
  readonly document: JsonObject & { readonly id: string };
  readonly madeAtMs: number;
  readonly lines: readonly Line[];
  readonly faults: readonly JsonObject[];
  cancelledAtMs: number | undefined;
  /** Once it has ended, and its lines were answered. */
  files?: JsonObject;
}

interface Line {
  readonly custom_id: string;
  readonly body: unknown;
}

const batchTakesMs = 3000;
const batchesMax = 100;
/** All are answered at once. */
const linesMax = 5000;
const faultsMax = 100;
const paths: readonly unknown[] = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/responses',
  '/v1/moderations',
];

/** As OpenAI's: https://platform.openai.com/docs/api-reference/batch */
export function createDemoBatches(
  answerLine: AnswerLine,
  now: () => number = Date.now,
): DemoBatches {
  const files = new DemoFiles(now);
  const batches = new Map<string, Batch>();
  let made = 0;

  function create(asked: JsonObject): JsonObject {
    const { input_file_id, endpoint, completion_window, metadata = null } = asked;
    for (const param of ['input_file_id', 'endpoint', 'completion_window'])
      if (typeof asked[param] !== 'string')
        throw new VendorFault(400, `Missing required parameter: '${param}'.`, { param });
    if (!paths.includes(endpoint))
      throw new VendorFault(400, `Invalid value: 'endpoint' must be one of ${paths.join(', ')}.`, {
        param: 'endpoint',
      });
    if (completion_window !== '24h')
      throw new VendorFault(400, "Invalid value: 'completion_window' must be '24h'.", {
        param: 'completion_window',
      });
    const { content } = files.find(String(input_file_id));
    const id = `batch_demo${(++made).toString(36).padStart(6, '0')}${now().toString(36)}`;
    const batch: Batch = {
      document: { id, object: 'batch', endpoint, input_file_id, completion_window, metadata },
      madeAtMs: now(),
      ...readLines(content.toString('utf8'), endpoint),
      cancelledAtMs: undefined,
    };
    batches.set(id, batch);
    const [oldest] = batches.keys();
    if (batches.size > batchesMax && oldest !== undefined) batches.delete(oldest);
    return present(batch);
  }

  function present(batch: Batch): JsonObject & { id: string } {
    const { document, madeAtMs, lines, faults, cancelledAtMs } = batch;
    const done = (now() - madeAtMs) / batchTakesMs;
    const status =
      faults.length > 0
        ? 'failed'
        : cancelledAtMs !== undefined
          ? 'cancelled'
          : done < 1 / 3
            ? 'validating'
            : done < 1
              ? 'in_progress'
              : 'completed';
    if (status === 'completed') batch.files ??= run(batch);
    const at = (ms: number) => Math.floor(ms / 1000);
    const failed = Number(batch.files?.failed ?? 0);
    const isDone = batch.files !== undefined;
    return {
      ...document,
      status,
      errors: faults.length === 0 ? null : { object: 'list', data: faults },
      output_file_id: batch.files?.output ?? null,
      error_file_id: batch.files?.errors ?? null,
      created_at: at(madeAtMs),
      in_progress_at: done < 1 / 3 ? null : at(madeAtMs + batchTakesMs / 3),
      expires_at: at(madeAtMs) + 86_400,
      completed_at: isDone ? at(madeAtMs + batchTakesMs) : null,
      failed_at: faults.length === 0 ? null : at(madeAtMs),
      cancelled_at: cancelledAtMs === undefined ? null : at(cancelledAtMs),
      request_counts: {
        total: lines.length,
        completed: isDone ? lines.length - failed : 0,
        failed,
      },
    };
  }

  function run({ document, lines }: Batch): JsonObject {
    const path = String(document.endpoint);
    const rows = lines.map((line, at) => ({
      id: `batch_req_${String(document.id).slice(6)}-${at}`,
      custom_id: line.custom_id,
      response: responseOf(path, line),
      error: null,
    }));
    const keep = (kind: string, isWanted: (status: number) => boolean) => {
      const wanted = rows.filter(({ response }) => isWanted(response.status_code));
      if (wanted.length === 0) return null;
      const text = wanted.map((row) => `${JSON.stringify(row)}\n`).join('');
      return files.keep(Buffer.from(text), `${document.id}_${kind}.jsonl`, 'batch_output').document
        .id;
    };
    return {
      failed: rows.filter(({ response }) => response.status_code >= 400).length,
      output: keep('output', (status) => status < 400),
      errors: keep('error', (status) => status >= 400),
    };
  }

  function responseOf(path: string, { custom_id, body }: Line) {
    const request_id = `req_demo_${custom_id}`;
    try {
      return { status_code: 200, request_id, body: answerLine(path, JSON.stringify(body)) };
    } catch (error) {
      if (!(error instanceof VendorFault)) throw error;
      const { status, message, param, code } = error;
      const told = { message, type: 'invalid_request_error', param, code };
      return { status_code: status, request_id, body: { error: told } };
    }
  }

  function find(id: string): Batch {
    const batch = batches.get(id);
    if (batch === undefined) throw new VendorFault(404, `No batch found with id '${id}'.`);
    return batch;
  }

  return {
    answer(method, url, contentType, readBytes) {
      const { pathname, searchParams } = new URL(url, 'http://demo');
      const [, , root, id, part] = pathname.split('/');
      if (root === 'files')
        return ofFiles(files, method, [id, part], { contentType, readBytes, searchParams });
      if (root !== 'batches') return undefined;
      return (async () => {
        if (method === 'POST' && id === undefined)
          return json(create(parsed((await readBytes()).toString('utf8'))));
        if (id === undefined)
          return json(pageOf([...batches.values()].toReversed().map(present), searchParams));
        const batch = find(id);
        const isGoing = ['validating', 'in_progress'].includes(String(present(batch).status));
        if (method === 'POST' && part === 'cancel' && isGoing) batch.cancelledAtMs = now();
        return json(present(batch));
      })();
    },
  };
}

interface Sent {
  readonly contentType: string;
  readonly readBytes: () => Promise<Buffer>;
  readonly searchParams: URLSearchParams;
}

async function ofFiles(
  files: DemoFiles,
  method: string,
  [id, part]: readonly (string | undefined)[],
  { contentType, readBytes, searchParams }: Sent,
): Promise<DemoAnswer> {
  if (id === undefined && method === 'POST')
    return json(await files.upload(await readBytes(), contentType));
  if (id === undefined) return json(files.list(searchParams));
  if (method === 'DELETE') return json(files.delete(id));
  const { document, content } = files.find(id);
  if (part !== 'content') return json(document);
  return { kind: 'bytes', contentType: 'application/octet-stream', pieces: [content] };
}

/** Its lines, or what is wrong with them: then none is answered. */
function readLines(text: string, url: unknown): Pick<Batch, 'lines' | 'faults'> {
  const lines: Line[] = [];
  const faults: JsonObject[] = [];
  const seen = new Set<string>();
  for (const [at, row] of text.split('\n').entries()) {
    if (row.trim() === '') continue;
    const fault = (code: string, message: string) =>
      faults.push({ code, message, param: null, line: at + 1 });
    const line = rowOf(row);
    const id = line?.custom_id;
    if (line === undefined) fault('invalid_json_line', 'This line is not parseable as valid JSON.');
    else if (typeof id !== 'string' || id === '')
      fault('missing_required_parameter', 'Missing required parameter: custom_id.');
    else if (seen.has(id)) fault('duplicate_custom_id', `The custom_id ${id} is there twice.`);
    else if (line.url !== url)
      fault(
        'mismatched_url',
        'The URL provided for this request does not match the batch endpoint.',
      );
    else {
      seen.add(id);
      lines.push({ custom_id: id, body: line.body });
    }
  }
  if (lines.length + faults.length === 0)
    faults.push({
      code: 'empty_file',
      message: 'The input file is empty.',
      param: null,
      line: null,
    });
  if (lines.length > linesMax)
    faults.push({
      code: 'too_many_tasks',
      message: `A batch of the demo has at most ${linesMax} lines.`,
      param: null,
      line: null,
    });
  return { lines: faults.length > 0 ? [] : lines, faults: faults.slice(0, faultsMax) };
}

function rowOf(text: string): JsonObject | undefined {
  try {
    const row: unknown = JSON.parse(text);
    return isObject(row) ? row : undefined;
  } catch {
    return undefined;
  }
}

function json(body: unknown): DemoAnswer {
  return { kind: 'json', body };
}
