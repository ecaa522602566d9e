/**
 * In place of ClickHouse for `npm run compose`: its HTTP interface over the embedded engine, behind the users of compose-secrets.sh, whose
 * passwords and addresses are asked for as ClickHouse does.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request as call, createServer } from 'node:http';
import { startClickHouseFront } from './clickhouse-front.ts';

const users = readFileSync('/etc/clickhouse-server/users.d/sluice.xml', 'utf8');
const front = await startClickHouseFront({ dataDir: '/var/lib/clickhouse' });
const target = new URL(front.url);

function mayEnter(authorization: string | undefined, address: string): boolean {
  const [user = '', password = ''] = Buffer.from(authorization?.split(' ')[1] ?? '', 'base64')
    .toString()
    .split(':');
  const block = new RegExp(`<${user}>([\\s\\S]*?)</${user}>`).exec(users)?.[1];
  if (user === '' || block === undefined) return false;
  const isHere = address.endsWith('127.0.0.1') || address === '::1';
  if (!block.includes('<ip>::/0</ip>') && !isHere) return false;
  const hash = /<password_sha256_hex>(.*)</.exec(block)?.[1];
  return hash === undefined
    ? block.includes('<no_password/>')
    : createHash('sha256').update(password).digest('hex') === hash;
}

const server = createServer((request, response) => {
  const { authorization, ...headers } = request.headers;
  if (request.url !== '/ping' && !mayEnter(authorization, request.socket.remoteAddress ?? ''))
    return response.writeHead(403).end('Authentication failed');
  const { hostname, port } = target;
  const options = { hostname, port, method: request.method, path: request.url, headers };
  const upstream = call(options, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  upstream.on('error', () => response.destroy());
  request.pipe(upstream);
});
server.listen(8123, '0.0.0.0');
process.once('SIGTERM', async () => {
  server.close();
  server.closeAllConnections();
  await front.close();
  process.exit(0);
});
