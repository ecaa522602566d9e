import { json, type RecordedRequest, startUpstream, type Upstream } from '@sluice/testkit';
import { Pool } from 'undici';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { ManagedRun, type ManagedState, Refused } from './run-managed.ts';

let gateway: Upstream | undefined;
let pool: Pool;
const notes: ManagedState[] = [];
/** What the gateway says to `POST /v1/batches`, one after the other. */
let answers: (readonly [status: number, body: object])[];
let pages: (readonly string[])[];
/** What a file is told to be, one look after the other; its upload first. */
let states: string[];
/** What the gateway says to a cancellation, and to a look at the batch after it. */
let cancels: (readonly [status: number, body: object])[];
let statuses: string[];
/** What the gateway says to `GET …/output`. */
let output: readonly [status: number, body: object | string];

beforeEach(async () => {
  gateway ??= await startUpstream();
  pool ??= new Pool(gateway.url);
  gateway.requests.length = 0;
  gateway.handle(answer);
  notes.length = 0;
  answers = [[200, { id: 'made' }]];
  pages = [[]];
  states = [];
  cancels = [];
  statuses = [];
  output = [200, { custom_id: 'a' }];
});
afterAll(() => Promise.all([pool?.destroy(), gateway?.close()]));

function answer({ method, path }: RecordedRequest) {
  if (path.startsWith('/v1/files')) return json(200, { id: 'file-1', status: states.shift() });
  if (path.endsWith('/cancel')) return json(...(cancels.shift() ?? ([200, {}] as const)));
  if (path.endsWith('/output')) return json(...output);
  if (method === 'POST') return json(...(answers.shift() ?? ([500, {}] as const)));
  if (!path.startsWith('/v1/batches?'))
    return json(200, { status: statuses.shift() ?? 'completed' });
  const after = new URLSearchParams(path.split('?')[1]).get('after') ?? '';
  const at = pages.findIndex((page) => page.at(-1) === after) + 1;
  const data = (pages[at] ?? []).map((id) => ({ id, input_file_id: id.replace('of ', '') }));
  return json(200, { data, has_more: at + 1 < pages.length });
}

function run(
  state: ManagedState,
  { takesLines = false, isCancelled = false, endsInMs = 9e6 } = {},
) {
  const never = new AbortController().signal;
  return new ManagedRun({
    batchId: '019ab000-0000-7000-8000-000000000000',
    inputFileId: '019ab000-0000-7000-8000-000000000001',
    endpoint: '/v1/chat/completions',
    window: '24h',
    plan: { takesLines, isOpenAi: true, options: {} },
    headers: { 'x-service-provider': '@ours' },
    state,
    token: () => 'token',
    pool,
    timeoutMs: 5_000,
    intervalMs: 1,
    endsAtMs: Date.now() + endsInMs,
    lineBytesMax: 100,
    input: async function* () {
      yield Buffer.from('{"body":{"model":"m"}}');
    },
    note: async (now) => void notes.push(now),
    signals: {
      cut: never,
      leave: never,
      cancelled: isCancelled ? AbortSignal.abort() : never,
    },
  });
}

const asked = () =>
  gateway?.requests.map(({ method, path }) => `${method} ${path.replace('/v1/', '')}`);
const unheard = { file: 'file-1', askedAtMs: Date.UTC(2026, 10, 23) };

it('a batch is noted as asked for before it is', async () => {
  expect(await run({}).run()).toEqual({ status: 'completed' });
  expect(asked()).toEqual(['POST files', 'POST batches', 'GET batches/made']);
  expect(notes).toEqual([
    { file: 'file-1' },
    { file: 'file-1', askedAtMs: expect.any(Number) },
    { file: 'file-1', askedAtMs: expect.any(Number), batch: 'made' },
  ]);
});

it.each([
  [429, {}],
  [412, {}],
  [529, {}],
  [503, { error: { code: 'gateway.draining' } }],
  [503, { error: { code: 'upstream.unreachable' } }],
])('a refusal takes the note back: %s %o', async (status, body) => {
  answers = [[status, body]];
  await expect(run({ file: 'file-1' }).run()).rejects.toThrow(`POST /v1/batches: ${status}`);
  expect(notes.at(-1)).toEqual({ file: 'file-1', askedAtMs: 0 });
});

it.each([500, 502, 408])('%s leaves it: nobody knows', async (status) => {
  answers = [[status, {}]];
  await expect(run({ file: 'file-1' }, { takesLines: true }).run()).rejects.toThrow(`${status}`);
  expect(notes.at(-1)?.askedAtMs).toBeGreaterThan(0);
});

it('a gateway that is not there has made nothing', async () => {
  const away = pool;
  pool = new Pool('http://127.0.0.1:1');
  await expect(run({}, { takesLines: true }).run()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(notes.at(-1)).toEqual({ askedAtMs: 0 });
  await pool.destroy();
  pool = away;
});

it('one that may have been made is looked for on all pages, and not made again', async () => {
  pages = [['of file-7', 'x'], ['of file-8', 'y/z'], ['of file-1']];
  expect(await run(unheard).run()).toEqual({ status: 'completed' });
  expect(asked()).toEqual([
    'GET batches?limit=100',
    'GET batches?limit=100&after=x',
    'GET batches?limit=100&after=y%2Fz',
    'GET batches/of%20file-1',
  ]);
});

it('one that is not there, though asked for twice, is made', async () => {
  expect(await run(unheard).run()).toEqual({ status: 'completed' });
  const look = 'GET batches?limit=100';
  expect(asked()).toEqual([look, look, 'POST batches', 'GET batches/made']);
});

it('one of many more than are looked through is not looked for without end', async () => {
  pages = Array.from({ length: 30 }, (_, at) => [`page ${at}`]);
  await run(unheard).run();
  expect(asked()?.filter((path) => path.startsWith('GET batches?'))).toHaveLength(20);
});

it('one that nothing tells from others ends, and says where to look', async () => {
  const end = { status: 'failed', message: expect.stringContaining('It may have been made') };
  expect(await run(unheard, { takesLines: true }).run()).toEqual(end);
  expect(asked()).toEqual([]);
  gateway?.handle(json(404, { error: { message: 'no lists here' } }));
  expect(await run(unheard).run()).toMatchObject({
    message: expect.stringMatching(
      /^At 2026-11-23T00:00:00.000Z the provider @ours .*no lists here$/,
    ),
  });
  gateway?.handle(json(200, []));
  expect(await run(unheard).run()).toEqual(end);
});

it('one that was cancelled, or is too late, is not made, and has no output', async () => {
  for (const [how, status] of [
    [{ isCancelled: true }, 'cancelled'],
    [{ endsInMs: -1 }, 'expired'],
  ] as const) {
    const managed = run({}, how);
    expect(await managed.run()).toEqual({ status });
    expect((await managed.output().next()).done).toBe(true);
  }
  expect(asked()).toEqual([]);
  // What may be there is cancelled there.
  pages = [['of file-1']];
  await run(unheard, { isCancelled: true }).run();
  expect(asked()).toContain('POST batches/of%20file-1/cancel');
});

it('a file that its provider has not read is waited for, also by the next runner', async () => {
  states = ['uploaded', 'pending', 'processed'];
  expect(await run({}).run()).toEqual({ status: 'completed' });
  const look = 'GET files/file-1';
  expect(asked()).toEqual(['POST files', look, look, 'POST batches', 'GET batches/made']);
  expect(notes.slice(0, 2)).toEqual([
    { file: 'file-1', isUnread: true },
    { file: 'file-1', isUnread: false },
  ]);
  states = ['error'];
  const message = expect.stringContaining('cannot use it');
  expect(await run(notes[0] ?? {}).run()).toEqual({ status: 'failed', message });
  expect(asked()?.at(-1)).toBe(look);
});

it.each([400, 404, 409])(
  'one that cannot be cancelled any more is told as it ended: %s',
  async (status) => {
    cancels = [[status, { error: { message: 'Cannot cancel a batch with status completed.' } }]];
    statuses = ['finalizing', 'completed'];
    const managed = run({ batch: 'made' }, { isCancelled: true });
    expect(await managed.run()).toEqual({ status: 'completed' });
    expect(asked()).toEqual(['POST batches/made/cancel', 'GET batches/made', 'GET batches/made']);
    expect((await managed.output().next()).value).toBe('{"custom_id":"a"}');
  },
);

it('a line of the output that is too long is told, and those after it are there', async () => {
  const ids = JSON.stringify({ id: 'batch_req_1', custom_id: 'q "1"' }).slice(0, -1);
  const long = `${ids},"response":{"body":"${'x'.repeat(16 * 1024 * 1024)}"}}`;
  output = [200, `${long}\n{"custom_id":"b"}\n`];
  const lines: unknown[] = [];
  for await (const line of run({ batch: 'made' }).output()) lines.push(JSON.parse(line));
  expect(lines).toEqual([
    {
      id: expect.stringMatching(/^batch_req_\w+_1$/),
      custom_id: 'q "1"',
      response: {
        status_code: 502,
        request_id: '',
        body: { error: expect.objectContaining({ code: 'batch.answer_too_large' }) },
      },
      error: null,
    },
    { custom_id: 'b' },
  ]);
});

it('an output that is refused is no better later; one that is not there yet is', async () => {
  output = [404, { error: { message: 'no such file' } }];
  await expect(run({ batch: 'made' }).output().next()).rejects.toThrow(Refused);
  await expect(run({ batch: 'made' }).output().next()).rejects.toThrow('404 no such file');
  for (const [status, code] of [
    [409, 'batch.not_finished'],
    [429, 'limit.rate_exceeded'],
    [503, 'gateway.draining'],
    [502, 'upstream.invalid_response'],
  ] as const) {
    output = [status, { error: { code, message: 'later' } }];
    await expect(run({ batch: 'made' }).output().next()).rejects.not.toThrow(Refused);
  }
});
