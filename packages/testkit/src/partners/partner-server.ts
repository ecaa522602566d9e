import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { keepAliveMs } from '../keep-alive.ts';
import type { VendorRequest } from './vendor.ts';
import { vendors } from './vendors.ts';

/** How it misbehaves, whoever it speaks for: said in the header `x-test-mode`. */
export type PartnerMode =
  | 'well'
  | 'limited'
  | 'broken'
  | 'away-once'
  | 'silent'
  | 'half'
  | 'absurd'
  | 'empty'
  | 'elsewhere';

/**
 * All vendors at one address. The host that was meant is in the header
 * `x-test-host`: tests send there what would go to the vendors.
 */
export interface PartnerServer {
  readonly url: string;
  readonly requests: VendorRequest[];
  close(): Promise<void>;
}

export async function startPartnerServer(): Promise<PartnerServer> {
  const requests: VendorRequest[] = [];
  const away = new Set<string>();
  const server = createServer({ keepAliveTimeout: keepAliveMs }, async (req, res) => {
    const request = await received(req);
    requests.push(request);
    const mode = (request.headers['x-test-mode'] ?? 'well') as PartnerMode;
    const key = request.headers['x-test-case'] ?? '';
    if (mode === 'away-once' && !away.has(key)) {
      away.add(key);
      res.writeHead(503).end();
      return;
    }
    const answer = answerOf(request, mode);
    if (answer === undefined) return;
    const { status, text, location } = answer;
    res
      .writeHead(status, {
        'content-type': 'application/json',
        ...(location === undefined ? {} : { location }),
      })
      .end(text);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly location?: string;
}

/** Undefined = none at all. */
function answerOf(request: VendorRequest, mode: PartnerMode): Answer | undefined {
  const vendor = vendors.find(({ host, path }) => isAt(request, host, path));
  if (vendor === undefined) return { status: 404, text: '{"error":"no such address"}' };
  if (mode === 'silent') return undefined;
  if (mode === 'elsewhere')
    return { status: 307, text: '', location: `https://elsewhere.test${request.path}` };
  if (mode === 'limited') return { status: 429, text: '{"error":"too many"}' };
  if (mode === 'broken') return { status: 500, text: 'Internal Server Error' };
  if (!vendor.knows(request)) return { status: 401, text: unauthorised(request) };
  const said = vendor.answer(request);
  if (said === undefined) return { status: 400, text: '{"error":"not as it must be"}' };
  if (mode === 'empty') return { status: 200, text: '{}' };
  const text = JSON.stringify(mode === 'absurd' ? absurd(said) : said);
  return { status: 200, text: mode === 'half' ? text.slice(0, text.length / 2) : text };
}

/** As some do, with what they were sent: it must reach nobody. */
function unauthorised({ headers }: VendorRequest): string {
  return JSON.stringify({ error: 'unauthorised', headers });
}

function isAt(request: VendorRequest, host: string, path: string): boolean {
  return request.method === 'POST' && request.host === host && request.path === path;
}

/** The same form, and nothing in it is what it should be. */
function absurd(value: unknown): unknown {
  if (value === null) return null;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(absurd);
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, absurd(item)]));
  if (typeof value === 'string') return 7;
  if (typeof value === 'number') return 'many';
  return 'perhaps';
}

async function received(req: IncomingMessage): Promise<VendorRequest> {
  const bytes = await buffer(req);
  const { pathname, searchParams } = new URL(req.url ?? '/', 'http://partner.test');
  const headers = Object.fromEntries(
    Object.entries(req.headers).map(([name, value]) => [name, value?.toString()]),
  );
  return {
    method: req.method ?? '',
    host: headers['x-test-host'] ?? '',
    path: pathname,
    query: searchParams,
    headers,
    bytes,
    body: read(bytes.toString('utf8'), headers['content-type'] ?? ''),
  };
}

function read(text: string, type: string): unknown {
  if (type.includes('form')) return Object.fromEntries(new URLSearchParams(text));
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
