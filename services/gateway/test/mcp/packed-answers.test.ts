import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type McpLab, startMcpLab } from './mcp-lab.ts';

/** A server that packs what it says, though nobody asked for that. */
let lab: McpLab;
let slug: string;
let close: () => Promise<unknown>;
let asked: IncomingHttpHeaders[] = [];
let pack = { encoding: 'gzip', of: (text: string): Buffer => gzipSync(text) };
let isStream = false;
let body: (id: unknown) => string;
const answer = (id: unknown, result: object) => JSON.stringify({ jsonrpc: '2.0', id, result });

beforeAll(async () => {
  lab = await startMcpLab();
  const server = createServer(async (req, res) => {
    asked.push(req.headers);
    if (req.method !== 'POST') return void res.writeHead(405).end();
    const pieces: Buffer[] = [];
    for await (const piece of req) pieces.push(piece);
    const { id, method } = JSON.parse(Buffer.concat(pieces).toString());
    if (id === undefined) return void res.writeHead(202).end();
    const serverInfo = { name: 'packs', version: '1' };
    const about = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
    const isBegun = method !== 'tools/list';
    const text = isBegun ? answer(id, about) : body(id);
    const type = isStream && !isBegun ? 'text/event-stream' : 'application/json';
    res.writeHead(200, { 'content-type': type, 'content-encoding': pack.encoding });
    res.end(pack.of(type === 'application/json' ? text : `data: ${text}\n\n`));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const configurations = { custom_headers: { 'accept-encoding': 'gzip' } };
  ({ slug } = await lab.save({ url, authType: 'headers', configurations }));
});
afterAll(async () => {
  await lab?.stop();
  await close?.();
});

const tools = { tools: [{ name: 'one', inputSchema: { type: 'object' } }] };

describe('an answer of an MCP server', () => {
  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const)(
    'that is packed (%s) is unpacked, and no server is asked to pack',
    async (encoding, of) => {
      pack = { encoding, of };
      body = (id) => answer(id, tools);
      asked = [];
      const { client } = await lab.connect(slug);
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['one']);
      expect(new Set(asked.map((headers) => headers['accept-encoding']))).toEqual(
        new Set(['identity']),
      );
    },
  );

  it('that unpacks to more than may be read, or cannot be, or is a stream, is one clear error', async () => {
    pack = { encoding: 'gzip', of: gzipSync };
    body = (id) => answer(id, { tools: ' '.repeat(50_000_000) });
    const { client } = await lab.connect(slug);
    const refused = () =>
      client.listTools().then(
        () => 'none',
        ({ message }: Error) => message,
      );
    expect(await refused()).toMatch('sent more than');
    isStream = true;
    body = (id) => answer(id, tools);
    expect(await refused()).toMatch('The MCP server compressed its stream');
    isStream = false;
    pack = { encoding: 'br', of: (text) => Buffer.from(text) };
    expect(await refused()).toMatch('cannot be unpacked');
    // The session lives.
    pack = { encoding: 'br', of: brotliCompressSync };
    expect((await client.listTools()).tools).toHaveLength(1);
  });
});
