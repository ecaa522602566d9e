import { createServer } from 'node:net';
import { config, usage } from '@sluice/proto-stubs';
import { afterEach, describe, expect, it } from 'vitest';
import { createRpcClient } from './client.ts';
import { serveRpc } from './server.ts';
import { whyUnreachable } from './why-unreachable.ts';

const none = 'No connection established. Last error: ';

describe('whyUnreachable', () => {
  it.each([
    [14, `${none}Error: connect ECONNREFUSED 127.0.0.1:1. Resolution note: `, 'refused'],
    [14, 'Name resolution failed for target dns:nope.invalid:8790', 'name cannot be resolved'],
    [
      14,
      `${none}Error: 40DD:error:0A00010B:SSL routines::wrong version number:../deps`,
      'not speak',
    ],
    [
      14,
      `${none}Error: self-signed certificate; if the root CA is installed`,
      'not of an authority',
    ],
    [
      14,
      `${none}Error [ERR_TLS_CERT_ALTNAME_INVALID]: does not match certificate's`,
      'another name',
    ],
    [14, `${none}Error: ssl/tls alert certificate required: SSL alert number 116`, 'wants a cert'],
    [14, `${none}Failed to connect (2026-11-23T12:17:11.038Z). Resolution note: `, 'may speak TLS'],
    [16, 'The service token is missing or wrong.', 'SERVICE_CLIENT_AUTH'],
    [12, 'Received HTTP status code 404', 'something else'],
    [4, 'Deadline exceeded after 3.0s', 'does not answer'],
    [
      14,
      `${none}the other side took the connection and said nothing. Resolution note: `,
      'does not answer',
    ],
  ])('%i %s', (code, details, words) => {
    expect(whyUnreachable({ code, details }, false)).toContain(words);
  });

  it('says the same of the same cause at another time', () => {
    const at = (time: string) =>
      whyUnreachable({ code: 14, details: `Odd thing (2026-11-23T12:17:${time}Z).` }, true);
    expect(at('11.038')).toBe(at('59.1'));
  });
});

describe('a client asked why nobody answers', () => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  const ask = (address: string, token: string) => {
    const client = createRpcClient(config.ConfigService, { address, token });
    closers.push(() => client.close());
    return client.whyUnreachable(2_000);
  };

  it('tells a wrong token, a closed port and one that closes at once apart, and nothing of one that answers', async () => {
    const server = await serveRpc({ host: '127.0.0.1', port: 0, token: 'right' });
    closers.push(() => server.close(0));
    const abrupt = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => abrupt.listen(0, '127.0.0.1', resolve));
    closers.push(() => abrupt.close());
    const { port } = abrupt.address() as { port: number };
    expect(await ask(`127.0.0.1:${server.port}`, 'right')).toBeUndefined();
    expect(await ask(`127.0.0.1:${server.port}`, 'wrong')).toContain('SERVICE_CLIENT_AUTH');
    expect(await ask('127.0.0.1:1', 'right')).toContain('refused');
    expect(await ask(`127.0.0.1:${port}`, 'right')).toContain('may speak TLS');
  });

  it('suspects no TLS of one that it has spoken with', async () => {
    const { OwnerService } = usage;
    const server = await serveRpc({ host: '127.0.0.1', port: 0, token: 'right' });
    server.add(OwnerService, { findOwners: async () => ({}) } as never);
    const { port } = server;
    const client = createRpcClient(OwnerService, { address: `127.0.0.1:${port}`, token: 'right' });
    closers.push(() => client.close());
    await client.unary(OwnerService.method.findOwners, {}, { timeoutMs: 5_000 });
    await server.close(0);
    const abrupt = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => abrupt.listen(port, '127.0.0.1', resolve));
    closers.push(() => abrupt.close());
    // Until it has seen that the connection is gone, and made one more.
    await expect
      .poll(() => client.whyUnreachable(2_000), { timeout: 10_000 })
      .toBe('it closes the connection at once');
  });
});
