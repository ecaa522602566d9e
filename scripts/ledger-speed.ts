/**
 * `npm run ledger:speed -- --rows 2000000`: fills a ledger in the embedded engine with thirty days of records and asks
 * every question of analytics and logs. Prints what each took, and what a record takes on disk; docs/analytics.md has the aims.
 * `--arriving 2000`: so many records a second arrive meanwhile; `--folder F`: the ledger is kept there, and filled only once.
 * `--only 'gaps|a log'`: these questions alone.
 * `--intake 60`: instead, what it takes to store 20,000 records a second (`--rate`) for so many seconds; `--aged`: old ones,
 * as of a backlog; `--url`: on a ClickHouse server.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureIntake } from '@sluice/data-service/measure-intake';
import { measureSpeed } from '@sluice/data-service/measure-speed';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '2000000' },
    times: { type: 'string', default: '10' },
    arriving: { type: 'string', default: '0' },
    only: { type: 'string' },
    folder: { type: 'string' },
    intake: { type: 'string' },
    rate: { type: 'string', default: '20000' },
    aged: { type: 'boolean', default: false },
    url: { type: 'string' },
  },
});

const dataDir = values.folder ?? (await mkdtemp(join(tmpdir(), 'sluice-ledger-speed-')));
const tell = (line: string) => process.stdout.write(`${line}\n`);

async function showIntake(seconds: number): Promise<void> {
  const perSecond = Number(values.rate);
  const told = await measureIntake({
    place: values.url === undefined ? { dataDir } : { url: values.url },
    perSecond,
    seconds,
    agedMs: values.aged ? 86_400_000 : 0,
  });
  tell(`${((perSecond * seconds) / told.seconds).toFixed(0)} records a second were stored`);
  tell(`${told.cpuMicrosEach.toFixed(1)} µs CPU a record, merges included`);
  tell(`${(told.rssMax / 1e6).toFixed(0)} MB resident at most`);
}

async function showQuestions(): Promise<void> {
  const { rollUpSeconds, bytesPerRecord, questions } = await measureSpeed({
    dataDir,
    rows: Number(values.rows),
    times: Number(values.times),
    arriving: Number(values.arriving),
    only: values.only === undefined ? undefined : new RegExp(values.only, 'u'),
  });
  for (const { name, p50, p95, cpu } of questions)
    tell(
      `${name.padEnd(34)} p50 ${p50.toFixed(0).padStart(6)} ms   p95 ${p95.toFixed(0).padStart(6)} ms   CPU ${cpu.toFixed(0).padStart(6)} ms`,
    );
  tell(`${rollUpSeconds.toFixed(0)} s to roll up what was filled in`);
  tell(`${bytesPerRecord.toFixed(1)} bytes a record on disk`);
}

try {
  await (values.intake === undefined ? showQuestions() : showIntake(Number(values.intake)));
} finally {
  if (values.folder === undefined) await rm(dataDir, { recursive: true, force: true });
}
