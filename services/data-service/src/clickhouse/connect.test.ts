import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { connectClickHouse } from './connect.ts';

it('leaves it to who asks to log what goes wrong, also where nobody listens', async () => {
  const written = [
    vi.spyOn(console, 'error').mockImplementation(() => {}),
    vi.spyOn(console, 'warn').mockImplementation(() => {}),
  ];
  onTestFinished(() => void vi.restoreAllMocks());
  const server = createServer((_, res) => void res.writeHead(500).end('Code: 1. DB::Exception'));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const { client, close } = await connectClickHouse({ url: `http://127.0.0.1:${port}/db` });
  await expect(client.command({ query: 'SELECT 1' })).rejects.toThrow('DB::Exception');
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await expect(client.command({ query: 'SELECT 1' })).rejects.toThrow(
    // The connection of the question before may be the one that is tried.
    /ECONNREFUSED|socket hang up/,
  );
  await close();
  for (const each of written) expect(each).not.toHaveBeenCalled();
});
