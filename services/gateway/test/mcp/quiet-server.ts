import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { keepAliveMs } from '@sluice/testkit';

/** A server of either era that answers when it is asked, has no stream of its own, and tells of no change. */
export async function startQuietServer(era: 'older' | 'newer') {
  const tools = ['stays', 'goes'].map((name) => ({ name, inputSchema: { type: 'object' } }));
  const about = { capabilities: { tools: {} }, instructions: 'Quiet.' };
  const serverInfo = { name: 'quiet', version: '1' };
  const newer = { resultType: 'complete', ttlMs: 0, cacheScope: 'public' };
  const answers: Readonly<Record<string, object>> =
    era === 'older'
      ? {
          initialize: { protocolVersion: '2025-11-25', ...about, serverInfo },
          'tools/list': { tools },
        }
      : {
          'server/discover': {
            ...newer,
            ...about,
            supportedVersions: ['2026-07-28'],
            _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
          },
          'tools/list': { ...newer, tools },
        };
  const server = createServer({ keepAliveTimeout: keepAliveMs }, async (req, res) => {
    if (req.method !== 'POST') return void res.writeHead(405, { allow: 'POST' }).end();
    const { id, method } = await messageOf(req);
    if (id === undefined) return void res.writeHead(202).end();
    const result = answers[method];
    const error = { code: -32601, message: 'Method not found' };
    const status = result === undefined && era === 'newer' ? 404 : 200;
    res.writeHead(status, { 'content-type': 'application/json' });
    res.end(
      JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }),
    );
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function messageOf(req: IncomingMessage) {
  const pieces: Buffer[] = [];
  for await (const piece of req) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString()) as { id?: unknown; method: string };
}
