import { bytes, json, type RecordedRequest, reset, type UpstreamReply } from '@sluice/testkit';
import { chatReply } from './scenario.ts';
import { uploadsVendor } from './vendors/uploads.ts';

interface Line {
  custom_id: string;
  body: { model: string; messages?: { content: string }[]; input?: string };
}

interface RunBatch {
  readonly lines: readonly Line[];
  readonly endpoint: string;
  readonly inputFileId: string;
  looks: number;
  status: string;
  readonly madeAt: number;
}

/** Over and done at the second look. */
const looksNeeded = 2;
const madeAt = () => Math.floor(Date.now() / 1000);
/** Whoever makes a batch with such a line does not hear that it was made. */
const isUnheard = (rows: readonly { custom_id: string }[]) =>
  rows.some(({ custom_id: id }) => id.startsWith('unheard'));
/** Its batch does not end before it is cancelled, and does not come to it. */
const isNeverRun = ({ custom_id: id }: Line) => id === 'never';
const isLarge = ({ body }: Line) => body.messages?.[0]?.content === 'large';
const isFailed = ({ body }: Line) => body.messages?.[0]?.content === 'fail';

/** Of all accounts: nobody's file has the name of another's. */
let made = 0;

/**
 * OpenAI's files and batches, as strict as OpenAI is.
 * @param noFile what stands for a file that there is none of: OpenAI's documents say null, others leave the member out
 */
export function openAiVendor(apiKey: string, noFile: 'null' | 'nothing' = 'null') {
  const files = new Map<string, Buffer>();
  const batches = new Map<string, RunBatch>();
  const refuse = (status: number, message: string) =>
    json(status, { error: { message, type: 'invalid_request_error', param: null, code: null } });
  const tuning = tuningVendor(refuse);
  const keep = (content: Buffer) => {
    const id = `file-of-${++made}`;
    files.set(id, content);
    return id;
  };
  const uploads = uploadsVendor(keep);
  const told = (id: string, batch: RunBatch) => ({
    id,
    object: 'batch',
    endpoint: batch.endpoint,
    errors: null,
    input_file_id: batch.inputFileId,
    completion_window: '24h',
    status: batch.status,
    output_file_id:
      (hasOutput(batch) ? outputOf(id, batch, false) : null) ??
      (noFile === 'null' ? null : undefined),
    error_file_id:
      (hasOutput(batch) ? outputOf(id, batch, true) : null) ??
      (noFile === 'null' ? null : undefined),
    created_at: batch.madeAt,
    request_counts: { total: batch.lines.length, completed: 0, failed: 0 },
    metadata: null,
  });
  const hasOutput = ({ status }: RunBatch) => status === 'completed' || status === 'cancelled';
  const outputOf = (id: string, { lines }: RunBatch, failed: boolean) => {
    const rows = lines
      .filter((line) => isFailed(line) === failed && !isNeverRun(line))
      .map((line) => rowOf(line));
    if (rows.length === 0) return null;
    const fileId = `${id}-${failed ? 'errors' : 'output'}`;
    files.set(fileId, Buffer.from(rows.join('\n')));
    return fileId;
  };
  const rowOf = (line: Line) => {
    const failed = isFailed(line);
    const content = 'x'.repeat(isLarge(line) ? 17 * 1024 * 1024 : 0);
    const body = isLarge(line)
      ? { ...chatReply, choices: [{ index: 0, message: { content } }], model: line.body.model }
      : failed
        ? { error: { message: 'no', type: 'invalid_request_error', param: null, code: null } }
        : line.body.input === undefined
          ? { ...chatReply, model: line.body.model }
          : {
              object: 'list',
              model: line.body.model,
              data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
              usage: { prompt_tokens: 1000, total_tokens: 1000 },
            };
    const response = { status_code: failed ? 400 : 200, request_id: 'r', body };
    return JSON.stringify({
      id: `l-${line.custom_id}`,
      custom_id: line.custom_id,
      response,
      error: null,
    });
  };
  return (request: RecordedRequest): UpstreamReply => {
    if (request.headers.authorization !== `Bearer ${apiKey}`) return refuse(401, 'who?');
    const { method } = request;
    const [, , root, id, below] = request.path.split('?')[0]?.split('/') ?? [];
    if (root === 'files' && method === 'POST') {
      const text = request.body.toString('latin1');
      const [, purpose] = /name="purpose"\r\n\r\n(batch|fine-tune)\r\n/.exec(text) ?? [];
      if (purpose === undefined) return refuse(400, 'purpose: batch or fine-tune');
      const [, content = ''] = /filename="[^"]*"[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(text) ?? [];
      return json(200, {
        id: keep(Buffer.from(content, 'latin1')),
        object: 'file',
        purpose,
      });
    }
    if (root === 'files' && below === 'content') {
      const content = files.get(decodeURIComponent(id ?? ''));
      return content === undefined ? refuse(404, 'no such file') : bytes(200, content);
    }
    if (root === 'uploads')
      return uploads(
        request,
        [id, below].filter((segment) => segment !== undefined),
      );
    if (root === 'fine_tuning') return tuning.answer(request, files);
    if (root === 'models' && method === 'DELETE')
      return json(200, { id: decodeURIComponent(id ?? ''), object: 'model', deleted: true });
    if (root !== 'batches') return refuse(404, 'no such path');
    if (method === 'POST' && id === undefined) {
      const {
        input_file_id,
        endpoint,
        completion_window,
        metadata: _m,
        ...rest
      } = request.json() as Record<string, string>;
      const content = files.get(input_file_id ?? '');
      if (content === undefined) return refuse(400, 'no such file');
      if (completion_window !== '24h' || Object.keys(rest).length > 0)
        return refuse(400, `unknown: ${Object.keys(rest).join()}`);
      const lines = content
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Line);
      const batch = {
        lines,
        endpoint: endpoint ?? '',
        inputFileId: input_file_id ?? '',
        looks: isUnheard(lines) ? looksNeeded - 1 : 0,
        status: 'validating',
        madeAt: madeAt(),
      };
      const batchId = `batch_of_${++made}`;
      batches.set(batchId, batch);
      return isUnheard(lines) ? reset() : json(200, told(batchId, batch));
    }
    if (id === undefined) return json(200, listed(new URLSearchParams(request.path.split('?')[1])));
    const batch = batches.get(id);
    if (batch === undefined) return refuse(404, 'no such batch');
    if (below === 'cancel') batch.status = 'cancelling';
    else if (batch.status === 'cancelling') batch.status = 'cancelled';
    else if (batch.status !== 'cancelled') {
      const isDone = ++batch.looks >= looksNeeded && !batch.lines.some(isNeverRun);
      batch.status = isDone ? 'completed' : 'in_progress';
    }
    return json(200, told(id, batch));
  };

  /** The last that was made comes first. */
  function listed(query: URLSearchParams) {
    const all = [...batches].reverse();
    const from = all.findIndex(([batchId]) => batchId === query.get('after')) + 1;
    const page = all.slice(from, from + Number(query.get('limit') ?? 20));
    const data = page.map(([batchId, batch]) => told(batchId, batch));
    return { object: 'list', data, has_more: from + page.length < all.length };
  }
}

/** The same at Azure: another header, and a version in each address. */
export function azureVendor(apiKey: string) {
  const vendor = openAiVendor(apiKey, 'nothing');
  return (request: RecordedRequest): UpstreamReply => {
    const { headers, path } = request;
    const [, place, query = ''] = /^\/openai\/([^?]*)(?:\?(.*))?$/.exec(path) ?? [];
    const refuse = (status: number, message: string) => json(status, { error: { message } });
    if (headers['api-key'] !== apiKey) return refuse(401, 'Access denied');
    const isVersioned = query.split('&').includes('api-version=2024-10-21');
    if (place === undefined || place.startsWith('v1/') === isVersioned)
      return refuse(404, 'Resource not found');
    return vendor({
      ...request,
      path: `/v1/${place.replace(/^v1\//, '')}?${query.replace(/&?api-version=[^&]*/, '')}`,
      headers: { ...headers, authorization: `Bearer ${apiKey}` },
      json: () => request.json(),
    });
  };
}

/** Anthropic's message batches, as strict as Anthropic is. */
export function anthropicBatchVendor(apiKey: string) {
  const batches = new Map<
    string,
    { rows: Record<string, unknown>[]; looks: number; ended: string | null; made: string }
  >();
  let made = 0;
  const limits = { 'anthropic-ratelimit-requests-remaining': '41' };
  const refuse = (status: number, type: string, message: string) =>
    json(
      status,
      { type: 'error', error: { type, message } },
      { ...limits, ...(status === 429 && { 'retry-after': '7', 'x-should-retry': 'true' }) },
    );
  const told = (id: string) => {
    const { rows, ended, made: madeOn } = batches.get(id) ?? { rows: [], ended: null, made: '' };
    return {
      id,
      type: 'message_batch',
      processing_status: ended === null ? 'in_progress' : 'ended',
      request_counts: {
        processing: ended === null ? rows.length : 0,
        succeeded: ended === null ? 0 : rows.length,
        errored: 0,
        canceled: 0,
        expired: 0,
      },
      created_at: madeOn,
      expires_at: new Date(Date.now() + 86_400_000).toISOString(),
      ended_at: ended,
      archived_at: null,
      cancel_initiated_at: null,
      results_url: ended === null ? null : 'https://api.anthropic.com/elsewhere',
    };
  };
  return (request: RecordedRequest): UpstreamReply => {
    const { method, headers } = request;
    if (headers['x-api-key'] !== apiKey) return refuse(401, 'authentication_error', 'who?');
    if (headers['anthropic-version'] === undefined)
      return refuse(400, 'invalid_request_error', 'anthropic-version: header is required');
    const path = request.path.split('?')[0] ?? '';
    const [id, below] = path.replace('/v1/messages/batches', '').split('/').slice(1);
    if (/[?&]limit=42(?:&|$)/.test(request.path))
      return refuse(429, 'rate_limit_error', 'too many lists');
    if (!path.startsWith('/v1/messages/batches')) return refuse(404, 'not_found_error', path);
    if (method === 'POST' && id === undefined) {
      const { requests, ...rest } = request.json() as {
        requests?: { custom_id: string; params: Record<string, unknown> }[];
      };
      if (requests === undefined || Object.keys(rest).length > 0)
        return refuse(400, 'invalid_request_error', 'requests: and nothing else');
      if (requests.some(({ params }) => typeof params.max_tokens !== 'number'))
        return refuse(400, 'invalid_request_error', 'params.max_tokens: Field required');
      const batchId = `msgbatch_${++made}`;
      const rows = requests.map(({ custom_id, params }) => ({
        custom_id,
        result: {
          type: 'succeeded',
          message: {
            id: `msg_${custom_id}`,
            type: 'message',
            role: 'assistant',
            model: params.model,
            ...(JSON.stringify(params).includes('in other words')
              ? { completion: 'x'.repeat(4000) }
              : {
                  content: [{ type: 'text', text: 'Hi there' }],
                  stop_reason: 'end_turn',
                  stop_sequence: null,
                  usage: { input_tokens: 1000, output_tokens: 500 },
                }),
          },
        },
      }));
      batches.set(batchId, { rows, looks: 0, ended: null, made: new Date().toISOString() });
      return isUnheard(requests) ? reset() : json(200, told(batchId), limits);
    }
    if (id === undefined)
      return json(
        200,
        { data: [...batches.keys()].map(told), has_more: false, first_id: null, last_id: null },
        limits,
      );
    const batch = batches.get(id);
    if (batch === undefined) return refuse(404, 'not_found_error', `no batch ${id}`);
    if (below === 'results') {
      if (batch.ended === null) return refuse(400, 'invalid_request_error', 'not ended');
      const rows = batch.rows.map((row) => JSON.stringify(row)).join('\n');
      return bytes(200, Buffer.from(`${rows}\n`), { 'content-type': 'application/x-jsonl' });
    }
    if (++batch.looks >= looksNeeded) batch.ended ??= new Date().toISOString();
    return json(200, told(id));
  };
}

/** OpenAI's fine-tuning: over at the second look. */
function tuningVendor(refuse: (status: number, message: string) => UpstreamReply) {
  const jobs = new Map<string, { looks: number; asked: Record<string, unknown>; isCut: boolean }>();
  return {
    answer(request: RecordedRequest, files: ReadonlyMap<string, Buffer>): UpstreamReply {
      const [, , , , id, below] = request.path.split('/');
      if (request.method === 'POST' && id === undefined) {
        const asked = request.json() as Record<string, unknown>;
        const allowed = new Set(['model', 'training_file', 'suffix', 'seed']);
        const unknown = Object.keys(asked).filter((name) => !allowed.has(name));
        if (unknown.length > 0) return refuse(400, `unknown: ${unknown.join()}`);
        if (!files.has(String(asked.training_file))) return refuse(400, 'no such file');
        const made = `ftjob-of-${jobs.size + 1}`;
        jobs.set(made, { looks: 0, asked, isCut: false });
        return json(200, told(made));
      }
      const job = jobs.get(id ?? '');
      if (job === undefined) return refuse(404, 'no such job');
      if (below === 'events') return json(200, { object: 'list', data: [], has_more: false });
      if (below === 'cancel') job.isCut = true;
      else job.looks += 1;
      return json(200, told(id ?? ''));
    },
  };

  function told(id: string) {
    const { looks = 0, asked = {}, isCut = false } = jobs.get(id) ?? {};
    const isOver = looks >= looksNeeded;
    const status = isCut ? 'cancelled' : isOver ? 'succeeded' : 'running';
    return {
      id,
      object: 'fine_tuning.job',
      created_at: madeAt(),
      finished_at: isOver ? madeAt() : null,
      model: asked.model,
      training_file: asked.training_file,
      fine_tuned_model: isOver ? `ft:${String(asked.model)}:ours::${id}` : null,
      trained_tokens: isOver ? 5000 : null,
      status,
    };
  }
}
