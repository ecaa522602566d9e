/** Files and batches of Mistral, as it judges them: https://docs.mistral.ai/api (batch jobs, files), November 2026. */
import { bytes, json } from '@sluice/testkit';
import { z } from 'zod';
import { chatReply } from '../scenario.ts';
import { Refused, readBody, readQuery, refusing, type VendorPart } from './strict.ts';

const jobBody = z.strictObject({
  input_files: z.array(z.string().min(1)).length(1),
  endpoint: z.enum(['/v1/chat/completions', '/v1/embeddings', '/v1/fim/completions']),
  model: z.string().min(1),
  metadata: z.record(z.string(), z.string()).optional(),
  timeout_hours: z.int().min(1).max(168).optional(),
});
/** The job has the model, and the method. */
const row = z.strictObject({
  custom_id: z.string().min(1),
  body: z.strictObject({
    messages: z.array(z.looseObject({ role: z.string() })).min(1),
    max_tokens: z.int().optional(),
  }),
});

/** `/v1/files` and `/v1/batch/jobs`; a job is over at the second look. */
export function mistralJobs(apiKey: string) {
  const files = new Map<string, string>();
  const jobs = new Map<string, Record<string, unknown> & { rows: z.infer<typeof row>[] }>();
  const refusals: string[] = [];
  const refuse = (message: string, status = 422) =>
    new Refused(status, { object: 'error', message });
  const now = () => Math.floor(Date.now() / 1000);
  const keep = (content: string) => {
    const id = `5f3b0000-0000-4000-8000-${String(files.size).padStart(12, '0')}`;
    files.set(id, content);
    return id;
  };
  const told = ({ rows: _rows, ...job }: Record<string, unknown>) => job;

  const part: VendorPart = (request) => {
    const { method, path, headers } = request;
    const [, , root = '', id, below, verb] = path.split('?')[0]?.split('/') ?? [];
    if (root !== 'files' && root !== 'batch') return undefined;
    if (headers.authorization !== `Bearer ${apiKey}`) throw refuse('Unauthorized', 401);
    if (root === 'files' && method === 'POST' && id === undefined) {
      const text = request.body.toString();
      if (!/name="purpose"\r\n\r\nbatch\r\n/.test(text)) throw refuse('purpose');
      const [, content] =
        /filename="[^"]+\.jsonl"[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(text) ?? [];
      if (content === undefined) throw refuse('file: a .jsonl is needed');
      return json(200, { id: keep(content), object: 'file', purpose: 'batch', created_at: now() });
    }
    if (root === 'files' && method === 'GET' && below === 'content') {
      const content = files.get(id ?? '');
      if (content === undefined) throw refuse('no such file', 404);
      return bytes(200, Buffer.from(content));
    }
    if (id !== 'jobs') throw refuse(`${method} ${path}`, 404);
    if (method === 'POST' && below === undefined) {
      const asked = readBody(request, jobBody, refuse);
      const lines = files
        .get(asked.input_files[0] ?? '')
        ?.trim()
        .split('\n');
      if (lines === undefined) throw refuse('input_files: no such file', 404);
      const rows = lines.map((line) => {
        const read = row.safeParse(JSON.parse(line));
        if (!read.success) throw refuse(`row: ${read.error.issues[0]?.path.join('.')}`);
        return read.data;
      });
      const made = `b17f0000-0000-4000-8000-${String(jobs.size).padStart(12, '0')}`;
      const counts = { total_requests: rows.length, succeeded_requests: 0, failed_requests: 0 };
      const job = { ...asked, ...counts, id: made, object: 'batch', status: 'QUEUED', rows };
      jobs.set(made, { ...job, created_at: now(), errors: [], output_file: null });
      return json(200, told(jobs.get(made) ?? {}));
    }
    if (method === 'GET' && below === undefined) {
      readQuery(path, ['page', 'page_size', 'model', 'status', 'created_after'], refuse);
      return json(200, { object: 'list', data: [...jobs.values()].map(told), total: jobs.size });
    }
    const job = jobs.get(below ?? '');
    if (job === undefined || method !== 'GET' || verb !== undefined)
      throw refuse(`${method} ${path}`, 404);
    if (job.status === 'QUEUED') job.status = 'RUNNING';
    else if (job.status === 'RUNNING')
      Object.assign(job, {
        status: 'SUCCESS',
        completed_at: now(),
        succeeded_requests: job.rows.length,
        output_file: keep(job.rows.map((one) => answered(one, job.model)).join('\n')),
      });
    return json(200, told(job));
  };
  return { part: refusing(part, refusals), refusals };
}

function answered({ custom_id }: z.infer<typeof row>, model: unknown): string {
  const response = { status_code: 200, body: { ...chatReply, model } };
  return JSON.stringify({ id: `row-${custom_id}`, custom_id, response, error: null });
}
