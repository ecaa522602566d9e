/**
 * `npm run scale`: one control plane with 200 followers over 2,000 workspaces
 * and a million keys, killed and started again. Some minutes, on the loopback
 * interface, with a Postgres of its own. Ends with 1 when an aim of docs/scale.md is missed.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { postgresSpec, postgresUrl, startProcess, throwawayPostgres } from '@sluice/stack';
import { buildService } from './build.ts';
import { measureScale } from './scale/measure-scale.ts';
import { aimsOf } from './scale/verdict.ts';

const { values } = parseArgs({
  options: {
    watchers: { type: 'string', default: '200' },
    processes: { type: 'string', default: '4' },
    workspaces: { type: 'string', default: '2000' },
    'workspaces-each': { type: 'string', default: '200' },
    keys: { type: 'string', default: '1000000' },
    changed: { type: 'string', default: '20' },
  },
});

const controlPlane = await buildService('control-plane');
const folder = await mkdtemp(join(tmpdir(), 'sluice-scale-'));
const settings = await throwawayPostgres(folder);
const postgres = await startProcess(postgresSpec(settings));
try {
  const figures = await measureScale({
    databaseUrl: postgresUrl(settings),
    controlPlane,
    watchers: Number(values.watchers),
    processes: Number(values.processes),
    workspaces: Number(values.workspaces),
    workspacesEach: Number(values['workspaces-each']),
    keys: Number(values.keys),
    changed: Number(values.changed),
    onStep: (sentence) => process.stdout.write(`${sentence}\n`),
  });
  process.stdout.write(`${JSON.stringify(figures, undefined, 2)}\n`);
  let missed = 0;
  for (const { name, value, max, unit } of aimsOf(figures)) {
    const isMet = value <= max;
    if (!isMet) missed += 1;
    process.stdout.write(
      `${isMet ? 'ok    ' : 'MISSED'} ${name}: ${Math.round(value)} ${unit} (at most ${max})\n`,
    );
  }
  process.exitCode = missed === 0 ? 0 : 1;
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
