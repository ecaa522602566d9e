import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BatchFigures } from '../../batches-measure.ts';
import { findCores, pinned } from '../cores.ts';
import type { Figure } from '../figure.ts';
import { targets } from '../targets.ts';
import type { Workbench } from '../workbench.ts';

/** A batch that gateways run over an upstream that answers at once, and a large file, each in an installation of its own. */
export async function measureBatches({ quick }: Workbench): Promise<Figure[]> {
  const lines = quick ? 10_000 : 50_000;
  const bytes = quick ? 200_000_000 : 1_000_000_000;
  const [batch] = await run('--lines', lines);
  const ways = await run('--bytes', bytes);
  const common = { subject: 'sluice', judged: 'measured' } as const;
  return [
    {
      ...common,
      figure: `lines a second of a batch of ${lines.toLocaleString('en')} that gateways run`,
      unit: 'RPS',
      measured: batch?.linesPerSecond ?? 0,
      target: targets.batchLinesPerSecond,
    },
    ...ways.flatMap(({ file, growthMb }) =>
      ['gateway', 'data-service'].map(
        (service): Figure => ({
          ...common,
          figure: `${service}: memory more while ${bytes / 1e6} MB go ${file?.way}`,
          unit: 'MB',
          measured: growthMb[service] ?? Number.NaN,
          target: targets.largeFileMb,
          note: `${file?.seconds.toFixed(1)} s`,
        }),
      ),
    ),
  ];
}

async function run(flag: string, amount: number): Promise<BatchFigures[]> {
  const told: BatchFigures[] = [];
  const script = join(import.meta.dirname, '../../batches-measure.ts');
  const cores = findCores();
  // On both: the bench itself stays on one.
  const [command, ...args] = pinned(cores && `${cores.measured},${cores.rest}`, [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    script,
    flag,
    String(amount),
  ]);
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  child.on('message', (figures) => told.push(figures as BatchFigures));
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0 || told.length === 0) throw new Error(`batches:measure ended with ${code}`);
  return told;
}
