import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGuardedFetch, hostileUrls, makeHostRules } from '@sluice/outbound';
import { expect, it } from 'vitest';
import { Asker } from './asker.ts';
import { askByClientCredentials } from './client-credentials.ts';

/** What an MCP server and the documents it leads to name, each place with the whole corpus. */
const places = ['challenge', 'issuer', 'token_endpoint'] as const;

it('proof 8: documents and token endpoints are asked of no host that must not be reached', async () => {
  let named: { place: (typeof places)[number]; url: string } = { place: 'issuer', url: '' };
  const server = createServer((req, res) => {
    const send = (status: number, body: object, headers: Record<string, string> = {}) =>
      res
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    const of = (place: string, own: string) => (named.place === place ? named.url : own);
    if (req.url === '/mcp')
      return send(
        401,
        {},
        { 'www-authenticate': `Bearer resource_metadata="${of('challenge', `${origin}/prm`)}"` },
      );
    if (req.url === '/prm')
      return send(200, {
        resource: `${origin}/mcp`,
        authorization_servers: [of('issuer', origin)],
      });
    if (req.url === '/.well-known/oauth-authorization-server')
      return send(200, {
        issuer: origin,
        response_types_supported: ['code'],
        token_endpoint: of('token_endpoint', `${origin}/token`),
      });
    return send(404, {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const guarded = createGuardedFetch({
    rules: makeHostRules({ trusted: [`127.0.0.1:${port}`], production: true }),
    // Whatever a name is looked up as is of no use to it.
    lookup: async () => [{ address: '169.254.169.254', family: 4 }],
  });
  const answers: string[] = [];
  const fetch = Object.assign(
    (...args: Parameters<typeof guarded>) => {
      const answer = guarded(...args);
      if (!args[0].startsWith(`${origin}/`))
        answer.then(
          () => answers.push(`reached ${args[0]}`),
          (error: { code?: string }) => answers.push(error.code ?? 'unknown'),
        );
      return answer;
    },
    { stream: guarded.stream, close: guarded.close },
  );
  // In a header there are no others.
  const inHeaders = hostileUrls.filter((url) => /^[\x21-\x7e]+$/.test(url) && !url.includes('"'));
  for (const place of places)
    for (const url of place === 'challenge' ? inHeaders : hostileUrls) {
      named = { place, url };
      const asker = new Asker({ fetch, server: new URL(`${origin}/mcp`), timeoutMs: 5_000 });
      await askByClientCredentials(asker, { client_id: 'a', client_secret: 'b' }).catch(() => {});
    }
  // Others are refused before that: they are no addresses.
  expect(answers.length).toBeGreaterThan(hostileUrls.length);
  expect(new Set(answers)).toEqual(new Set(['host.invalid']));
  await guarded.close();
  server.closeAllConnections();
  server.close();
});
