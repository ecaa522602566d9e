/**
 * `npm run batches:measure`: what a batch costs that gateways run, over an upstream that answers at once: lines a second, CPU of a line by
 * service, and how much each service grows. `--lines 500000`; `--bytes 1000000000` instead: a file of so many bytes goes up and comes back.
 * `--at-once 64`: lines under way. `--profile FOLDER`: CPU profiles of gateway and data service there, which then run from their sources.
 * `--ledger-apart`: the ledger's engine runs apart, behind ClickHouse's interface, and not within the data service. `--plain-malloc`: the
 * data service has the C library's own way to keep memory. docs/batches.md has the figures. `npm run bench -- --only batches` runs it both
 * ways, and is sent what came of it.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createSecrets, freePorts, type PartName, startSluice } from '@sluice/stack';
import { request } from 'undici';
import { type AdminCall, adminCaller } from './bench/admin-call.ts';
import { startPart } from './bench/parts.ts';
import { usageOf } from './bench/process-usage.ts';
import { buildService } from './build.ts';

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '20000' },
    bytes: { type: 'string', default: '0' },
    'at-once': { type: 'string' },
    profile: { type: 'string' },
    'ledger-apart': { type: 'boolean', default: false },
    'plain-malloc': { type: 'boolean', default: false },
  },
});
const lines = Number(values.lines);
const bytes = Number(values.bytes);
const tell = (line: string) => process.stdout.write(`${line}\n`);
const measured: readonly PartName[] = ['gateway', 'data-service', 'control-plane', 'postgres'];
const sampleMs = 500;
const tellEveryMs = 30_000;

const dataDir = await mkdtemp(join(tmpdir(), 'sluice-batches-measure-'));
const ledger = values['ledger-apart'] ? await startLedger() : undefined;
const upstream = await startPart('upstream.ts', [], undefined);
const builtServices =
  values.profile === undefined
    ? {
        gateway: await buildService('gateway'),
        'data-service': await buildService('data-service'),
        'control-plane': await buildService('control-plane'),
      }
    : {};
const profiled: Record<string, string> =
  values.profile === undefined
    ? {}
    : { NODE_OPTIONS: `--cpu-prof --cpu-prof-interval=500 --cpu-prof-dir=${values.profile}` };
const ports = await freePorts();
const sluice = await startSluice({
  dataDir,
  ports,
  clickhouseUrl: ledger?.url,
  secrets: createSecrets(),
  restart: false,
  builtServices,
  partEnvironment: {
    gateway: profiled,
    'data-service': {
      FILE_BYTES_MAX: String(16 * 1024 ** 3),
      ...profiled,
      ...(values['plain-malloc'] && {
        MALLOC_TRIM_THRESHOLD_: undefined,
        MALLOC_MMAP_THRESHOLD_: undefined,
      }),
      ...(values['at-once'] !== undefined && { BATCH_LINES_AT_ONCE: values['at-once'] }),
    },
  },
});
try {
  const { credentials } = sluice;
  const call = adminCaller({ baseUrl: credentials.base_url, adminKey: credentials.admin_key });
  await prepare(call, credentials.workspace_id);
  if (bytes > 0) await measureFile();
  else await measureLines();
} finally {
  await sluice.stop();
  await upstream.stop();
  ledger?.stop();
  await rm(dataDir, { recursive: true, force: true });
}

/** A provider of the bench's upstream; bodies of requests are not kept, which is a figure of its own. */
async function prepare(call: AdminCall, workspaceId: string): Promise<void> {
  await call('POST', '/integrations', {
    name: 'Upstream of the measurement',
    slug: 'instant',
    ai_provider_id: 'openai',
    key: 'sk-instant',
    workspace_id: workspaceId,
    configurations: { custom_host: `http://127.0.0.1:${upstream.port}/v1` },
    create_default_provider: true,
    default_provider_slug: 'instant',
  });
  await call('PUT', '/admin/organisation/settings', {
    request_logging: { mode: 'metrics' },
    workspace_overrides: { request_logging: true },
  });
}

/** What a run comes to, for whoever started it. */
export interface BatchFigures {
  readonly linesPerSecond?: number;
  /** Of a file: in which direction, and how much each service grew meanwhile at most. */
  readonly file?: { readonly way: 'up' | 'down'; readonly seconds: number };
  readonly growthMb: Readonly<Record<string, number>>;
}

function report(
  figures: Omit<BatchFigures, 'growthMb'>,
  used: Awaited<ReturnType<typeof during>>['used'],
): void {
  const growthMb = Object.fromEntries([...used].map(([name, use]) => [name, use.growthMb]));
  process.send?.({ ...figures, growthMb } satisfies BatchFigures);
}

interface Usage {
  cpuMs: number;
  /** Of the thread that serves. */
  loopMs: number;
  rssMb: number;
}

function usages(): Map<PartName, Usage> {
  return new Map(
    measured.map((name) => {
      const pid = sluice.parts.get(name)?.pid;
      return [name, pid === undefined ? { cpuMs: 0, loopMs: 0, rssMb: 0 } : usageOf(pid)];
    }),
  );
}

/** The ledger's engine in a process of its own, behind ClickHouse's interface. */
async function startLedger(): Promise<{ url: string; stop(): void }> {
  const entry = join(import.meta.dirname, '../services/data-service/test/clickhouse-apart-main.ts');
  const child = spawn(process.execPath, [entry, join(dataDir, 'ledger')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(child.stdout))
    return { url: line, stop: () => void child.stdin.end() };
  throw new Error('the ledger did not start');
}

/** Of the data service's memory: what is of V8, and what the C library and mappings have beside it. */
async function whatDataServiceHolds(): Promise<string> {
  const pid = sluice.parts.get('data-service')?.pid;
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const reply = await request(`http://127.0.0.1:${ports.dataService}/metrics`);
  const metrics = await reply.body.text();
  const mb = (text: string, pattern: RegExp, unit: number) =>
    (Number(pattern.exec(text)?.[1] ?? Number.NaN) / unit).toFixed(0);
  const series = (name: string) => mb(metrics, new RegExp(`^${name}\\S* (\\S+)$`, 'm'), 1024 ** 2);
  return `  data-service: anonymous ${mb(status, /^RssAnon:\s+(\d+)/m, 1024)} MB, files ${mb(status, /^RssFile:\s+(\d+)/m, 1024)} MB; V8's heap ${series('node_nodejs_heap_size_total_bytes')} MB, buffers ${series('node_nodejs_external_memory_bytes')} MB`;
}

/** What was used while something was done, and the most that was resident. */
async function during<T>(work: () => Promise<T>) {
  const before = usages();
  const most = new Map([...before].map(([name, { rssMb }]) => [name, rssMb]));
  const startedAt = performance.now();
  let told = startedAt;
  const timer = setInterval(() => {
    const now = usages();
    for (const [name, { rssMb }] of now) most.set(name, Math.max(most.get(name) ?? 0, rssMb));
    if (performance.now() - told < tellEveryMs) return;
    told = performance.now();
    tell([...now].map(([name, { rssMb }]) => `${name} ${rssMb.toFixed(0)} MB`).join(', '));
    void whatDataServiceHolds().then(tell, () => {});
  }, sampleMs);
  const result = await work();
  clearInterval(timer);
  const seconds = (performance.now() - startedAt) / 1000;
  const after = usages();
  const used = new Map(
    measured.map((name) => {
      const start = before.get(name) ?? { cpuMs: 0, loopMs: 0, rssMb: 0 };
      return [
        name,
        {
          cpuMs: (after.get(name)?.cpuMs ?? 0) - start.cpuMs,
          loopMs: (after.get(name)?.loopMs ?? 0) - start.loopMs,
          growthMb: (most.get(name) ?? 0) - start.rssMb,
          startMb: start.rssMb,
        },
      ] as const;
    }),
  );
  return { result, seconds, used };
}

async function measureLines(): Promise<void> {
  // Code that was never run is not what is measured, nor the memory that it takes.
  await runBatch(2_000);
  const { result, seconds, used } = await during(() => runBatch(lines));
  tell(`${lines} lines in ${seconds.toFixed(0)} s: ${(lines / seconds).toFixed(0)} lines/s`);
  let cpuMs = 0;
  for (const [name, use] of used) {
    cpuMs += use.cpuMs;
    const each = ((use.cpuMs * 1000) / lines).toFixed(0);
    tell(
      `${name.padEnd(14)} ${each.padStart(6)} µs CPU a line (${((use.loopMs * 1000) / lines).toFixed(0)} of the loop), ${use.startMb.toFixed(0)} MB before, ${use.growthMb.toFixed(0)} MB more at most`,
    );
  }
  tell(
    `all of them ${((cpuMs * 1000) / lines).toFixed(0)} µs CPU a line; ${JSON.stringify(result)}`,
  );
  report({ linesPerSecond: lines / seconds }, used);
}

function headers() {
  return { 'x-service-api-key': sluice.credentials.workspace_key };
}

async function sendJson(method: 'GET' | 'POST', path: string, body?: object) {
  const reply = await request(`${sluice.credentials.base_url}${path}`, {
    method,
    headers: { ...headers(), 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await reply.body.text();
  if (reply.statusCode !== 200) throw new Error(`${method} ${path}: ${reply.statusCode} ${text}`);
  return JSON.parse(text) as { id: string; status: string; request_counts: object };
}

/** A form that is never whole anywhere. */
async function sendFile(purpose: string, pieces: () => Iterable<Buffer>): Promise<string> {
  const boundary = 'sluice-batches-measure';
  function* form() {
    yield Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n${purpose}\r\n--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="measured.jsonl"\r\n\r\n`,
    );
    yield* pieces();
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  const reply = await request(`${sluice.credentials.base_url}/files`, {
    method: 'POST',
    headers: { ...headers(), 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Readable.from(form(), { objectMode: false }),
    headersTimeout: 600_000,
  });
  const text = await reply.body.text();
  if (reply.statusCode !== 200) throw new Error(`the upload: ${reply.statusCode} ${text}`);
  return (JSON.parse(text) as { id: string }).id;
}

function* linesOf(count: number): Generator<Buffer, void> {
  const perPiece = 500;
  for (let from = 0; from < count; from += perPiece) {
    let text = '';
    for (let at = from; at < Math.min(count, from + perPiece); at += 1)
      text += `{"custom_id":"line-${at}","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Question ${at}"}]}}\n`;
    yield Buffer.from(text);
  }
}

async function runBatch(count: number): Promise<object> {
  const file = await sendFile('batch', () => linesOf(count));
  const batch = await sendJson('POST', '/batches', {
    input_file_id: file,
    endpoint: '/v1/chat/completions',
    completion_window: 'immediate',
    service_options: { provider: '@instant' },
  });
  for (;;) {
    await sleep(500);
    const now = await sendJson('GET', `/batches/${batch.id}`);
    if (now.status === 'completed') return now.request_counts;
    if (now.status === 'failed' || now.status === 'expired') throw new Error(JSON.stringify(now));
  }
}

async function measureFile(): Promise<void> {
  const piece = Buffer.alloc(64 * 1024, 'a file that is measured ');
  function* content(size: number) {
    for (let left = size; left > 0; left -= piece.length)
      yield left < piece.length ? piece.subarray(0, left) : piece;
  }
  const readAll = async (id: string) => {
    const reply = await request(`${sluice.credentials.base_url}/files/${id}/content`, {
      headers: headers(),
    });
    let read = 0;
    for await (const chunk of reply.body) read += (chunk as Buffer).length;
    return read;
  };
  await readAll(await sendFile('user_data', () => content(1_000_000)));
  let id = '';
  const show = (way: 'up' | 'down', { seconds, used }: Awaited<ReturnType<typeof during>>) => {
    tell(`${bytes} bytes ${way} in ${seconds.toFixed(1)} s`);
    report({ file: { way, seconds } }, used);
    for (const name of ['gateway', 'data-service'] as const) {
      const { startMb = 0, growthMb = 0, cpuMs = 0 } = used.get(name) ?? {};
      tell(
        `${name.padEnd(14)} ${startMb.toFixed(0)} MB before, ${growthMb.toFixed(0)} MB more at most, ${(cpuMs / 1000).toFixed(1)} s CPU`,
      );
    }
  };
  show(
    'up',
    await during(async () => {
      id = await sendFile('user_data', () => content(bytes));
    }),
  );
  show(
    'down',
    await during(async () => {
      const read = await readAll(id);
      if (read !== bytes) throw new Error(`${read} bytes came back`);
    }),
  );
}
