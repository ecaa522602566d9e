import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('events that nobody reads in time are dropped, and counted', async () => {
  // A process of its own, whose stderr is a pipe that nobody reads for a while.
  const script = `
    import { createLogger, droppedEvents } from ${JSON.stringify(new URL('./logger.ts', import.meta.url).href)};
    const logger = createLogger({ service: 'x', level: 'info' });
    const other = createLogger({ service: 'x', level: 'silent' });
    for (let n = 0; n < 100; n++) logger.info({ n, pad: 'x'.repeat(200_000) }, 'long');
    console.log(JSON.stringify({ dropped: droppedEvents(logger), others: droppedEvents(other) }));
    setTimeout(() => process.exit(), 300);
  `;
  const child = promisify(execFile)(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script],
    { timeout: 15_000, maxBuffer: 64 << 20 },
  );
  child.child.stderr?.pause();
  child.child.stdout?.once('data', () => child.child.stderr?.resume());
  const { dropped, others } = JSON.parse((await child).stdout) as Record<string, number>;
  // Of 20 MB in 100 lines 8 MiB may wait.
  expect(dropped).toBeGreaterThan(40);
  expect(dropped).toBeLessThan(80);
  expect(others).toBe(0);
});
