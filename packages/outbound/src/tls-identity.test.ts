import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { encryptedKey, forgedRsaKey, testCertificate } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConnectGuard } from './guarded-connect.ts';
import { makeHostRules } from './host-rules.ts';
import { createUpstreamPools } from './pools.ts';
import { readTlsIdentity, secureContextOf, type TlsIdentity } from './tls-identity.ts';

const authority = testCertificate('authority');
const client = { tls_cert: testCertificate('client'), tls_key: testCertificate('client-key') };

describe('readTlsIdentity', () => {
  it('is nothing without one of its settings', () => {
    expect(readTlsIdentity({ aws_region: 'x', tls_ca: '', tls_key: 7 })).toBeUndefined();
  });

  it('names equal identities alike, and different ones differently', () => {
    const id = (configurations: object) =>
      readTlsIdentity(configurations as Record<string, unknown>)?.id;
    expect(id({ tls_ca: authority })).toBe(id({ tlsCa: authority }));
    expect(id({ tls_ca: authority })).not.toBe(id({ tls_ca: authority, ...client }));
    expect(id({ tls_ca: authority })).not.toBe(id({ tls_cert: authority }));
  });

  it('reads a PEM whose line ends were written out', () => {
    expect(readTlsIdentity({ tls_ca: authority.replaceAll('\n', '\\n') })?.ca).toBe(authority);
  });
});

describe('a private upstream', () => {
  const seen: string[] = [];
  const server = createServer(
    {
      key: testCertificate('server-key'),
      cert: testCertificate('server'),
      ca: authority,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (req, res) => {
      const socket = req.socket as TLSSocket;
      const subject = socket.authorized ? String(socket.getPeerCertificate().subject.CN) : 'nobody';
      seen.push(subject);
      res.writeHead(socket.authorized ? 200 : 403).end(subject);
    },
  );
  const pools = createUpstreamPools({
    guard: createConnectGuard({
      rules: makeHostRules({ trusted: ['localhost'], production: true }),
    }),
  });
  let origin = '';
  beforeAll(async () => {
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await pools.close(0);
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const get = async (configurations: Record<string, unknown>) => {
    const pool = pools.pool(origin, { tls: readTlsIdentity(configurations), by: 'admin' });
    const { statusCode, body } = await pool.request({ path: '/', method: 'GET' });
    return [statusCode, await body.text()];
  };

  it('is trusted by its own authority, and knows us by our certificate', async () => {
    expect(await get({ tls_ca: authority, ...client })).toEqual([200, 'sluice gateway']);
  });

  it('does not know us without a certificate, and connections are not shared with who has one', async () => {
    await get({ tls_ca: authority, ...client });
    expect(await get({ tls_ca: authority })).toEqual([403, 'nobody']);
  });

  it('is not trusted by the system’s authorities', async () => {
    const before = seen.length;
    await expect(get(client)).rejects.toThrow(/certificate/);
    await expect(get({})).rejects.toThrow(/certificate/);
    expect(seen.length).toBe(before);
  });

  it('is known by one context, however often it is asked for', () => {
    const identity = () => readTlsIdentity({ tls_ca: authority, ...client }) as TlsIdentity;
    expect(secureContextOf(identity())).toBe(secureContextOf(identity()));
  });

  it.each(['P-256', 'P-384', 'P-521'])('may know us by a key of %s', (namedCurve) => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve });
    for (const type of ['sec1', 'pkcs8'] as const) {
      const tls_key = privateKey.export({ type, format: 'pem' });
      // Of another key than the certificate: it was read, and then found not to belong to it.
      const identity = readTlsIdentity({ ...client, tls_key }) as TlsIdentity;
      expect(() => secureContextOf(identity)).toThrow('cannot be used');
    }
  });

  it('is not known by a key of another curve', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
    const tls_key = privateKey.export({ type: 'pkcs8', format: 'pem' });
    const identity = readTlsIdentity({ ...client, tls_key }) as TlsIdentity;
    expect(() => secureContextOf(identity)).toThrow('tls_key is not');
  });

  it.each([
    { tls_ca: authority, tls_cert: client.tls_cert },
    { tls_key: client.tls_key },
    { tls_ca: authority, tls_cert: 'no PEM', tls_key: client.tls_key },
    { ...client, tls_key: testCertificate('server-key') },
    { ...client, tls_key: forgedRsaKey(16_384, { crt: false }) },
    { ...client, tls_key: encryptedKey(2 ** 31 - 1) },
    { ...client, tls_cert: `${client.tls_cert}${' '.repeat(65_536)}` },
    { tls_ca: `${authority}${' '.repeat(1_048_576)}` },
  ])('is not called with an identity that is none (%#)', async (configurations) => {
    const call = get(configurations).catch((error: unknown) => error);
    expect(await call).toMatchObject({ code: 'provider.setting_invalid' });
    expect(String(await call)).not.toContain('BEGIN');
  });
});
