import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, expect, it } from 'vitest';
import { lazyHttp } from './lazy-http.ts';
import { usedUndici } from './used-undici.ts';

// Where undici is found.
const dir = mkdtempSync(
  resolve(import.meta.dirname, '../../packages/outbound/node_modules/light-'),
);
afterAll(() => rmSync(dir, { recursive: true }));

async function bundled(source: string): Promise<{ file: string; code: string }> {
  const entry = join(dir, 'entry.mjs');
  writeFileSync(entry, source);
  const build = await rolldown({
    input: entry,
    platform: 'node',
    logLevel: 'silent',
    plugins: [lazyHttp, usedUndici],
  });
  const file = join(dir, 'built.mjs');
  const { output } = await build.write({ file, format: 'esm', codeSplitting: false });
  await build.close();
  return { file, code: output[0].code };
}

it('takes node:http without what only its getters load, and of undici what is used', async () => {
  const { file, code } = await bundled(`
    import { METHODS, request } from 'node:http';
    import { buildConnector, Client, Dispatcher, errors, Pool } from 'undici';
    export { buildConnector, Client, Dispatcher, errors, METHODS, Pool, request };
  `);
  expect(code).not.toMatch(/from ["']node:http["']/);
  expect(code).not.toMatch(/class (EventSource|MockAgent|CacheStorage|RetryAgent)\b/);

  const server = createServer((_, res) => res.end('hello')).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { METHODS, request, Pool, Client, Dispatcher, errors, buildConnector } = await import(
    pathToFileURL(file).href
  );
  const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    const { body } = await pool.request({ path: '/', method: 'GET' });
    expect(await body.text()).toBe('hello');
  } finally {
    await pool.close();
    server.close();
  }
  expect(METHODS).toContain('GET');
  expect(pool).toBeInstanceOf(Dispatcher);
  for (const each of [request, Client, errors.UndiciError, buildConnector])
    expect(each).toBeTypeOf('function');
});

it('does not build what takes more of undici', async () => {
  await expect(bundled("import { fetch } from 'undici'; export { fetch };")).rejects.toThrow(
    /fetch/,
  );
});
