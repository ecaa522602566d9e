import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fromUnknown, GatewayError } from '@sluice/errors';
import express, { type ErrorRequestHandler } from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDownloads } from './downloads.ts';

let server: Server;
let base: string;
/** Ends those that wait. */
let goOn: () => void;
const ended: string[] = [];

beforeAll(async () => {
  const downloads = createDownloads();
  const waiting = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  async function* content(name: string) {
    try {
      if (name === 'missing') throw new GatewayError('admin.export_gone');
      yield Buffer.from('first ');
      if (name === 'broken') throw new Error('the store went away');
      if (name === 'waits') await waiting;
      yield Buffer.from('last');
    } finally {
      ended.push(name);
    }
  }
  const app = express();
  app.get('/:name', (req, res) =>
    downloads.send(req, res, { 'content-type': 'text/plain' }, content(req.params.name)),
  );
  const renderError: ErrorRequestHandler = (error, _req, res, _next) => {
    const { code, status, headers } = fromUnknown(error);
    res.status(status).set(headers).send(code);
  };
  app.use(renderError);
  await new Promise<void>((resolve) => {
    server = app.listen(0, '127.0.0.1', () => resolve());
  });
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

describe('a download', () => {
  it('is sent as it is read, for nobody else to keep', async () => {
    const answer = await fetch(`${base}/whole`);
    expect(await answer.text()).toBe('first last');
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
    expect((await fetch(`${base}/whole`, { method: 'HEAD' })).status).toBe(200);
  });

  it('is an error like any other where nothing can be read, and cut off where the rest cannot', async () => {
    const missing = await fetch(`${base}/missing`);
    expect([missing.status, await missing.text()]).toEqual([410, 'admin.export_gone']);
    const broken = await fetch(`${base}/broken`);
    expect(broken.status).toBe(200);
    await expect(broken.text()).rejects.toThrow();
  });

  it('is one of eight, and leaves its place when it ends or nobody waits', async () => {
    const gone = new AbortController();
    const underWay = await Promise.all([
      fetch(`${base}/waits`, { signal: gone.signal }),
      ...Array.from({ length: 7 }, () => fetch(`${base}/waits`)),
    ]);
    const ninth = await fetch(`${base}/whole`);
    expect([ninth.status, ninth.headers.get('retry-after')]).toEqual([503, '5']);
    gone.abort();
    await expect.poll(async () => (await fetch(`${base}/whole`)).status).toBe(200);
    goOn();
    for (const answer of underWay.slice(1)) expect(await answer.text()).toBe('first last');
    await expect.poll(() => ended.filter((name) => name === 'waits').length).toBe(8);
  });
});
