import { copyFile } from 'node:fs/promises';
import { get } from 'node:https';
import { join } from 'node:path';
import { usage } from '@sluice/proto-stubs';
import { createRpcClient, serveRpc, TlsFiles } from '@sluice/rpc';
import { certificatesPart, createHttpServer } from '@sluice/service';
import { createLogger } from '@sluice/telemetry';
import {
  type CertificateName,
  eventually,
  temporaryFolder,
  testCertificate,
  testCertificatePath,
} from '@sluice/testkit';
import { Pool } from 'undici';
import { expect, it, onTestFinished } from 'vitest';

const token = 'a-token-shared-by-the-services';
const authority = Buffer.from(testCertificate('authority'));

type Pair = 'server' | 'client' | 'stranger';

/** The files of one service, which somebody renews. */
async function filesWith(pair: Pair) {
  const folder = await temporaryFolder('certificates');
  const at = (name: string) => join(folder, name);
  const write = (name: CertificateName, as: string) => copyFile(testCertificatePath(name), at(as));
  const renew = async (next: Pair) => {
    await write(next, 'tls.crt');
    await write(`${next}-key`, 'tls.key');
  };
  await write('authority', 'ca.crt');
  await renew(pair);
  const files = new TlsFiles({
    TLS_CERT_PATH: at('tls.crt'),
    TLS_KEY_PATH: at('tls.key'),
    TLS_CA_PATH: at('ca.crt'),
  });
  return { files, renew, write };
}

function ask(port: number, tls: TlsFiles['client']): Promise<number> {
  const client = createRpcClient(usage.UsageService, {
    address: `localhost:${port}`,
    token,
    tls,
    graceMs,
  });
  return client
    .unary(
      usage.UsageService.method.writeUsage,
      { records: [] },
      { timeoutMs: 10_000, failFast: true },
    )
    .then(
      () => 0,
      ({ code }: { code: number }) => code,
    )
    .finally(() => client.close());
}

async function rpcServer(tls: TlsFiles['server']): Promise<number> {
  const server = await serveRpc({ host: '127.0.0.1', port: 0, token, tls });
  server.add(usage.UsageService, { writeUsage: async () => ({}), async *listCharges() {} });
  onTestFinished(() => server.close(0));
  return server.port;
}

const trusting = { ca: authority };
const ours = {
  ...trusting,
  cert: Buffer.from(testCertificate('client')),
  key: Buffer.from(testCertificate('client-key')),
};
const unavailable = 14;
/** Nobody comes who is not there yet. */
const graceMs = 300;

it('a gRPC server shows the certificate that took the place of its own, and asks for one as before', async () => {
  const { files, renew } = await filesWith('stranger');
  const port = await rpcServer(files.server);
  expect(await ask(port, ours)).toBe(unavailable);
  await renew('server');
  expect([await files.look(), await files.look()]).toEqual([true, false]);
  expect(await ask(port, ours)).toBe(0);
  expect(await ask(port, trusting)).toBe(unavailable);
});

it('a client of gRPC shows the renewed one with its next connection', async () => {
  const server = await filesWith('server');
  const port = await rpcServer(server.files.server);
  const { files, renew } = await filesWith('stranger');
  const client = createRpcClient(usage.UsageService, {
    address: `localhost:${port}`,
    token,
    tls: files.client,
    graceMs,
  });
  onTestFinished(() => client.close());
  const write = () =>
    client.unary(
      usage.UsageService.method.writeUsage,
      { records: [] },
      { timeoutMs: 10_000, failFast: true },
    );
  await expect(write()).rejects.toMatchObject({ code: unavailable });
  await renew('client');
  await files.look();
  await eventually(write);
});

it('an HTTPS server shows it to new connections, those that stand go on, and half of a pair changes nothing', async () => {
  const { files, renew, write } = await filesWith('stranger');
  const lines: string[] = [];
  const logger = createLogger({
    service: 'test',
    level: 'info',
    follow: (line) => lines.push(line),
  });
  const server = createHttpServer({}, files.server, (_req, res) => res.end('here'));
  const [part] = certificatesPart(files, { logger, everyMs: 20 });
  server.listen(0, '127.0.0.1');
  await eventually(() => expect(server.listening).toBe(true));
  const { port } = server.address() as { port: number };
  onTestFinished(async () => {
    await part?.stop?.(0);
    server.closeAllConnections();
    server.close();
  });
  const standing = new Pool(`https://127.0.0.1:${port}`, {
    connections: 1,
    connect: { ca: testCertificate('stranger'), rejectUnauthorized: false },
  });
  onTestFinished(() => standing.destroy());
  const askStanding = async () => {
    const { body } = await standing.request({ path: '/', method: 'GET' });
    return body.text();
  };
  expect(await askStanding()).toBe('here');
  await expect(shownTo(port)).rejects.toThrow(/unable to verify|self-signed|issuer/);

  part?.start?.(new AbortController().signal);
  await write('server', 'tls.crt');
  await eventually(() => expect(lines.join('')).toContain('those of before stay'));
  await expect(shownTo(port)).rejects.toThrow(/unable to verify|self-signed|issuer/);
  await renew('server');
  await eventually(async () => expect(await shownTo(port)).toBe('here'));
  expect(await askStanding()).toBe('here');
  expect(lines.filter((line) => line.includes('certificates were renewed'))).toHaveLength(1);
});

function shownTo(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, ca: authority, agent: false };
    get(options, (res) => {
      let text = '';
      res.on('data', (chunk) => {
        text += chunk;
      });
      res.on('end', () => resolve(text));
    }).on('error', reject);
  });
}
