import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineSettings, metricsSettings, processSettings, text } from '@sluice/env';
import { eventually } from '@sluice/testkit';
import { afterAll, expect, it } from 'vitest';
import type { Part } from './part.ts';
import { liveService } from './run-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'live-service-'));
afterAll(() => rmSync(folder, { recursive: true }));

const settings = defineSettings({
  Process: {
    ...processSettings({ name: 'sample', drainMs: 100 }),
    ...metricsSettings({ port: 0 }),
    HOST: text('host', '127.0.0.1'),
    NODE_ENV: text('env', 'test'),
    NEEDED: text('needed'),
  },
});

let lives = 0;

/** Begins the life of a service of this part, in this process. */
function begin(environment: Record<string, string>, part: Part) {
  const stopping = new AbortController();
  const path = join(folder, `${++lives}.log`);
  const ready = Promise.withResolvers<void>();
  const ended = liveService(
    { name: 'unread', settings, wire: () => [part] },
    { environment, logFd: openSync(path, 'a'), stopping: stopping.signal, onReady: ready.resolve },
  );
  const lines = () =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ready: ready.promise, ended, lines, stop: () => stopping.abort('SIGTERM') };
}

it('has settings, a log and an end of its own beside another in the same process', async () => {
  const [one, other] = ['one', 'other'].map((name) =>
    begin({ SERVICE_NAME: name, NEEDED: 'x' }, { name: 'a' }),
  ) as [ReturnType<typeof begin>, ReturnType<typeof begin>];
  await Promise.all([one.ready, other.ready]);
  one.stop();
  expect(await one.ended).toBe(0);
  expect(one.lines().map(({ service, msg }) => [service, msg])).toEqual([
    ['one', 'ready'],
    ['one', 'stopping'],
    ['one', 'stopped'],
  ]);
  const { metrics_port: port } = other.lines()[0] ?? {};
  expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200);
  other.stop();
  expect(await other.ended).toBe(0);
  expect(other.lines().map(({ service }) => service)).toEqual(['other', 'other', 'other']);
});

it('that could not start says so in its log, and ends with code 1', async () => {
  const { ended, lines } = begin(
    { NEEDED: 'x' },
    {
      name: 'a',
      start() {
        throw new Error('no');
      },
    },
  );
  expect(await ended).toBe(1);
  expect(lines()).toMatchObject([{ service: 'sample', msg: 'the service could not start' }]);
});

it('names all faults of its settings, and shows no stack', async () => {
  const { ended, lines } = begin({ DRAIN_TIMEOUT: 'soon', LOG_LEVEL: 'loud' }, { name: 'a' });
  expect(await ended).toBe(1);
  const [line, ...more] = lines();
  expect(more).toEqual([]);
  expect(line).toMatchObject({
    level: 'fatal',
    msg: expect.stringContaining('settings are not valid'),
  });
  expect(line?.faults).toEqual([
    expect.stringContaining('LOG_LEVEL must be one of fatal'),
    expect.stringContaining('DRAIN_TIMEOUT must be an integer'),
    expect.stringContaining('NEEDED is required'),
  ]);
  expect(JSON.stringify(line)).not.toMatch(/stack|\n/);
});

it('that waits for something runs, says so, and is ready in its log when it is', async () => {
  let isReady = false;
  const { ready, ended, lines, stop } = begin(
    { NEEDED: 'x' },
    { name: 'a', isReady: () => isReady },
  );
  await ready;
  await eventually(() =>
    expect(lines().map(({ msg }) => msg)).toEqual(['listening, and not ready yet']),
  );
  isReady = true;
  await eventually(() => expect(lines().at(-1)?.msg).toBe('ready'));
  stop();
  expect(await ended).toBe(0);
});

it('names variables that are almost settings in one line, and not what they hold', async () => {
  const environment = { NEEDED: 'x', LOG_LEVLE: 'hidden', PROMETHEUS_ENABLE: 'hidden' };
  const life = begin(environment, { name: 'a' });
  await life.ready;
  life.stop();
  await life.ended;
  const [first] = life.lines();
  expect(first).toMatchObject({
    level: 'warn',
    variables: [
      { name: 'LOG_LEVLE', meant: 'LOG_LEVEL' },
      { name: 'PROMETHEUS_ENABLE', meant: 'ENABLE_PROMETHEUS' },
    ],
  });
  expect(JSON.stringify(life.lines())).not.toContain('hidden');
  const invalid = begin({ NEEDDE: 'hidden' }, { name: 'a' });
  expect(await invalid.ended).toBe(1);
  // A fatal line is written at once, and may overtake one whose write is under way.
  expect(invalid.lines().flatMap(({ variables = [] }) => variables)).toEqual([
    { name: 'NEEDDE', meant: 'NEEDED' },
  ]);
});
