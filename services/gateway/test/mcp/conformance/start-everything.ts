import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { eventually, freePort } from '@sluice/testkit';
import type { RunningServer } from './start-fixtures.ts';

const require = createRequire(import.meta.url);

/** `@modelcontextprotocol/server-everything` as published, on this machine's own address. */
export async function startEverything(
  transport: 'streamableHttp' | 'sse' = 'streamableHttp',
): Promise<RunningServer> {
  const manifest = require.resolve('@modelcontextprotocol/server-everything/package.json');
  const port = await freePort();
  const preload = new URL('./loopback-only.mjs', import.meta.url).href;
  const child = spawn(
    process.execPath,
    ['--import', preload, join(dirname(manifest), 'dist/index.js'), transport],
    { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' },
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await eventually(async () => {
    await fetch(`http://127.0.0.1:${port}/`);
  });
  return {
    url: `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`,
    async close() {
      child.kill();
      await ended;
    },
  };
}
