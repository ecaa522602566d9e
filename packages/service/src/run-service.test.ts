import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type OtlpFailure, startOtlpReceiver } from '@sluice/testkit';
import { expect, it } from 'vitest';

/** Runs a service of these parts as a process; it is sent `signal` when it is ready. */
async function run(
  parts: string,
  { signal = 'SIGTERM', env = {} }: { signal?: NodeJS.Signals; env?: Record<string, string> } = {},
): Promise<{ code: number | null; lines: Record<string, unknown>[] }> {
  const script = `
    import { forwardLog, runService } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
    import { defineSettings, metricsSettings, processSettings, text } from ${JSON.stringify(
      new URL('../../env/src/index.ts', import.meta.url).href,
    )};
    import { receiverSettings } from ${JSON.stringify(
      new URL('../../otlp/src/index.ts', import.meta.url).href,
    )};
    const settings = defineSettings({ Receiver: receiverSettings, Process: {
      ...processSettings({ name: 'sample', drainMs: 100 }), ...metricsSettings({ port: 0 }),
      HOST: text('host', '127.0.0.1'), NODE_ENV: text('env', 'test'), NEEDED: text('needed'),
    } });
    const keeps = setInterval(() => {}, 1000);
    await runService({ name: 'unread', settings, forwardLog, wire: (env, { logger }) => [${parts}] });`;
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval'];
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [...flags, script], {
    env: { PATH, NODE_COMPILE_CACHE, NEEDED: 'x', ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (data: string) => {
    text += data;
    if (data.includes('"msg":"ready"')) child.kill(signal);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  const lines = text.split('\n').filter((line) => line !== '');
  return { code, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

const messages = (lines: Record<string, unknown>[]) => lines.map(({ msg }) => msg);

it('says when it is ready and where, stops when asked, and writes its whole log before it ends', async () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const { code, lines } = await run(
      "{ name: 'a', stop() { for (let n = 0; n < 2000; n++) logger.info({ n }, 'closing'); } }",
      { signal },
    );
    expect(code).toBe(0);
    expect(lines[0]).toMatchObject({ service: 'sample', metrics_port: expect.any(Number) });
    expect(lines[1]).toMatchObject({ msg: 'stopping', signal });
    expect(lines).toHaveLength(2003);
    expect(lines.at(-1)).toMatchObject({ msg: 'stopped' });
  }
});

it('ends with code 1 when a part cannot be closed, after the others are', async () => {
  const { code, lines } = await run(`
    { name: 'a', stop: () => logger.info('a is closed') },
    { name: 'b', stop() { throw new Error('stuck'); } }`);
  expect(code).toBe(1);
  expect(messages(lines).slice(1)).toEqual([
    'stopping',
    'a is closed',
    'not everything could be closed',
  ]);
});

it('ends with code 1 when a part cannot start, and says why', async () => {
  const { code, lines } = await run(
    "{ name: 'a', start: () => Promise.reject(new Error('no database')) }",
  );
  expect(code).toBe(1);
  expect(lines).toMatchObject([
    { level: 'fatal', msg: 'the service could not start', err: { message: 'no database' } },
  ]);
});

it('ends with code 1 and without a stack when the system refuses, as a file that is not there', async () => {
  const { code, lines } = await run(
    "{ name: 'a', start: () => import('node:fs').then((fs) => fs.readFileSync('/nowhere')) }",
  );
  expect(code).toBe(1);
  expect(lines.at(-1)).toMatchObject({
    level: 'fatal',
    msg: 'the service could not start',
    reason: "ENOENT: no such file or directory, open '/nowhere'",
  });
  expect(JSON.stringify(lines)).not.toContain('stack');
});

it('ends with code 1 when its settings are not valid, and names all that are wrong', async () => {
  const { code, lines } = await run('', { env: { NEEDED: '', LOG_LEVEL: 'loud' } });
  expect(code).toBe(1);
  expect(lines).toMatchObject([{ service: 'unread', level: 'fatal' }]);
  expect(JSON.stringify(lines[0])).toMatch(/LOG_LEVEL must be one of.*NEEDED is required/);
});

it('ends with code 1 when the metrics port is taken, and names the setting', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const { code, lines } = await run('', { env: { METRICS_PORT: String(port) } });
  other.close();
  expect(code).toBe(1);
  expect(lines.at(-1)).toMatchObject({
    msg: 'the service could not start',
    reason: `METRICS_PORT ${port} cannot be used: listen EADDRINUSE: address already in use 127.0.0.1:${port}`,
  });
});

it('is not ended by what nobody has caught', async () => {
  const { code, lines } = await run(`
    { name: 'a', start() {
      setTimeout(() => { throw new Error('uncaught'); });
      void Promise.reject(new Error('unhandled'));
    } },
    { name: 'b', start: () => new Promise((resolve) => setTimeout(resolve, 100)) }`);
  expect(code).toBe(0);
  expect(messages(lines).slice(0, 3)).toEqual([
    'a promise was left unhandled',
    'an exception was left uncaught',
    'ready',
  ]);
});

it('writes what Node warns of as a line of its log', async () => {
  const { lines } = await run(`
    { name: 'a', start() {
      process.emitWarning('will be removed', 'DeprecationWarning', 'DEP9999');
      process.emitWarning('may change', 'ExperimentalWarning');
      return new Promise((resolve) => setTimeout(resolve, 100));
    } }`);
  expect(lines.slice(0, 2)).toMatchObject([
    {
      level: 'warn',
      msg: 'Node warns',
      err: { message: 'will be removed', stack: expect.stringMatching(/^DeprecationWarning/) },
    },
    { msg: 'ready' },
  ]);
});

it('can be stopped while a part is starting', async () => {
  const { code, lines } = await run(`
    { name: 'a', start() { process.kill(process.pid, 'SIGTERM'); return new Promise(() => {}); } }`);
  expect(code).toBe(0);
  expect(messages(lines)).toEqual(['stopping', 'stopped']);
});

it('sends its log by OTLP as well, to the last line', async () => {
  const receiver = await startOtlpReceiver();
  const { lines } = await run(
    "{ name: 'a', stop: () => logger.warn({ n: 7, deep: { x: 1 } }, 'closing') }",
    {
      env: {
        OTEL_LOGS_ENABLED: 'true',
        OTEL_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20sent',
        OTEL_RESOURCE_ATTRIBUTES: 'team=ours',
      },
    },
  );
  await receiver.close();
  expect(receiver.faults).toEqual([]);
  expect(receiver.requests[0]).toMatchObject({
    path: '/v1/logs',
    headers: { authorization: 'Bearer sent' },
  });
  expect(receiver.logs.map(({ body }) => body)).toEqual(messages(lines));
  const closing = receiver.logs.find(({ body }) => body === 'closing');
  const writtenAtMs = Date.parse(String(lines.find(({ msg }) => msg === 'closing')?.time));
  expect(closing?.timeMs).toBeCloseTo(writtenAtMs, 1);
  expect(closing).toMatchObject({
    severity: 13,
    attributes: { n: 7, deep: '{"x":1}' },
    resource: { 'service.name': 'sample', 'deployment.environment.name': 'test', team: 'ours' },
  });
});

it('tells a receiver of OTLP why it could not start', async () => {
  const receiver = await startOtlpReceiver();
  const env = { OTEL_LOGS_ENABLED: 'true', OTEL_ENDPOINT: receiver.url };
  const { code } = await run(
    "{ name: 'a', start: () => Promise.reject(new Error('no database')) }",
    {
      env,
    },
  );
  await receiver.close();
  expect(code).toBe(1);
  expect(receiver.logs).toMatchObject([{ body: 'the service could not start', severity: 21 }]);
});

it('works and ends beside a receiver that does not take its log', async () => {
  const runBeside = async (failure: OtlpFailure | 'absent') => {
    const receiver = await startOtlpReceiver();
    if (failure === 'absent') await receiver.close();
    else receiver.fail(failure);
    const env = { OTEL_LOGS_ENABLED: 'true', OTEL_ENDPOINT: receiver.url };
    const { code, lines } = await run("{ name: 'a' }", { env });
    if (failure !== 'absent') await receiver.close();
    return [code, ...messages(lines)];
  };
  const ended = [0, 'ready', 'stopping', 'stopped'];
  const runs = [runBeside('hang'), runBeside({ status: 503 }), runBeside('absent')];
  expect(await Promise.all(runs)).toEqual([ended, ended, ended]);
});
