import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@sluice/testkit';
import { expect, it } from 'vitest';
import { logFile } from './log-file.ts';

it('keeps at most twice its limit on disk, the newest lines among them', async () => {
  const path = join(await temporaryFolder('log'), 'gateway.log');
  const write = logFile(path, 100);
  for (let line = 0; line < 100; line += 1) write(Buffer.from(`line ${line}\n`));
  expect(readFileSync(path, 'utf8')).toContain('line 99\n');
  expect(statSync(path).size).toBeLessThanOrEqual(100);
  expect(statSync(`${path}.1`).size).toBeLessThanOrEqual(100);
});
