/**
 * `npm run ledger:speed -- --rows 2000000`: fills a ledger in the embedded engine with thirty days of records and asks
 * every question of analytics and logs. Prints what each took, and what a record takes on disk; docs/analytics.md has the aims.
 * `--arriving 2000`: so many records a second arrive meanwhile; `--folder F`: the ledger is kept there, and filled only once.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureSpeed } from '@sluice/data-service/measure-speed';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '2000000' },
    times: { type: 'string', default: '10' },
    arriving: { type: 'string', default: '0' },
    folder: { type: 'string' },
  },
});

const dataDir = values.folder ?? (await mkdtemp(join(tmpdir(), 'sluice-ledger-speed-')));
try {
  const { rollUpSeconds, bytesPerRecord, questions } = await measureSpeed({
    dataDir,
    rows: Number(values.rows),
    times: Number(values.times),
    arriving: Number(values.arriving),
  });
  for (const { name, p50, p95 } of questions)
    process.stdout.write(
      `${name.padEnd(34)} p50 ${p50.toFixed(0).padStart(6)} ms   p95 ${p95.toFixed(0).padStart(6)} ms\n`,
    );
  process.stdout.write(`${rollUpSeconds.toFixed(0)} s to roll up what was filled in\n`);
  process.stdout.write(`${bytesPerRecord.toFixed(1)} bytes a record on disk\n`);
} finally {
  if (values.folder === undefined) await rm(dataDir, { recursive: true, force: true });
}
