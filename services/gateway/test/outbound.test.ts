import { hostileUrls, neverTrustedUrls } from '@sluice/outbound';
import { findProvider, providerIds } from '@sluice/providers';
import { eventually, freshName, inTurns, isLongForm } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Ask,
  byConfig,
  byHeader,
  OutboundLab,
  publicAddress,
  trusting,
} from './outbound/outbound-lab.ts';
import { chatBody } from './scenario.ts';

/** Where a running gateway may be led by an address as it is written, whichever way it came in. */
let lab: OutboundLab;
beforeAll(async () => {
  lab = await OutboundLab.start();
});
beforeEach(() => lab.forget());
afterAll(() => lab.stop());

/** Longer ones are refused with the config. */
const fitsConfig = (url: string) => url.length <= 2048;
/** HTTP itself has no place for the others, and an empty header is none. */
const fitsHeader = (url: string) =>
  url.trim() !== '' && [...url].every((character) => character >= ' ' && character !== '\x7f');

/** Every kind of call makes its own way to a host. In the suite an address meets one of them, named in one place (`npm run abuse`: all). */
const calls: Pick<Ask, 'method' | 'path' | 'body'>[] = [
  { path: '/v1/chat/completions' },
  { path: '/v1/chat/completions', body: { ...chatBody, stream: true } },
  { path: '/v1/proxy/chat/completions' },
  { path: '/v1/embeddings', body: { model: 'm', input: 'x' } },
  { path: '/v1/anything' },
  { method: 'GET', path: '/v1/models' },
];

describe('a hostile address', () => {
  it('is one of 150 at least, each once', () => {
    expect(new Set(hostileUrls).size).toBe(hostileUrls.length);
    expect(hostileUrls.length).toBeGreaterThanOrEqual(150);
  });

  it.each(hostileUrls.map((url, index) => [url, index] as const))(
    '%j is not connected to, whoever names it',
    async (url, index) => {
      const asked = lab.dns.asked.length;
      for (const call of inTurns(calls, calls.length, index)) {
        const sides = [
          ...(fitsHeader(url) ? [['x-service-custom-host', byHeader(url)] as const] : []),
          ...(fitsConfig(url)
            ? [['config.custom_host', byConfig({ custom_host: url })] as const]
            : []),
        ];
        for (const [place, headers] of inTurns(sides, 2, index))
          await lab.expectRefused({ ...call, headers }, place);
      }
      // What is refused as it is written is not even looked up.
      expect(lab.dns.asked.length).toBe(asked);
    },
  );

  it.each(neverTrustedUrls)(
    '%j is not connected to by who trusts what is behind it',
    async (url) => {
      if (fitsHeader(url)) await lab.expectRefused({ gateway: trusting, headers: byHeader(url) });
      if (fitsConfig(url))
        await lab.expectRefused({ gateway: trusting, headers: byConfig({ custom_host: url }) });
    },
  );

  it('is not connected to when a saved provider has it', async () => {
    const { workspace_id } = lab.scenario.stack.credentials;
    const slugs = new Map<string, string>();
    const saved = inTurns(hostileUrls, 12);
    for (const url of saved) {
      const slug = freshName('hostile');
      const response = await fetch(`${lab.scenario.stack.gatewayUrls[0]}/v1/integrations`, {
        method: 'POST',
        headers: {
          'x-service-api-key': lab.scenario.stack.credentials.admin_key,
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          name: slug,
          slug,
          ai_provider_id: 'openai',
          key: 'sk-saved',
          workspace_id,
          configurations: { custom_host: url },
          create_default_provider: true,
          default_provider_slug: slug,
        }),
      });
      await response.text();
      // The admin API may refuse it as well; the gateway does not count on that.
      if (response.status === 200) slugs.set(url, slug);
      else expect(response.status, url).toBe(400);
    }
    expect(slugs.size).toBeGreaterThanOrEqual(isLongForm ? 150 : 12);
    const last = [...slugs.values()].at(-1);
    await eventually(async () => {
      const { code } = await lab.ask({ headers: { 'x-service-provider': `@${last}` } });
      return code !== 'provider.not_found';
    });
    // Empty means that there is none.
    for (const [url, slug] of slugs)
      if (url !== '')
        await lab.expectRefused(
          { headers: { 'x-service-provider': `@${slug}` } },
          `@${slug}.custom_host`,
        );
  });
});

describe('a setting that becomes part of an address', () => {
  const hostileSettings = [
    'evil.com/',
    'evil.com#',
    'evil.com?',
    'evil.com\\',
    'evil.com:443',
    'a.b#',
    'x@169.254.169.254',
    'x@169.254.169.254/',
    'x:y@evil.com',
    '../evil',
    '..',
    '.evil.com',
    'evil.com.',
    '%2e%2e%2fevil.com',
    '%23',
    'a b',
    'a\tb',
    'evil.com/#',
    '//evil.com',
    'http://evil.com',
    '[::1]',
    '::1',
    '169.254.169.254',
    '2130706433',
    '127.0.0.1',
    'localhost',
    'metadata.google.internal',
    'evil。com',
    'ｅｖｉｌ.com',
  ];
  const withSettings = providerIds().filter((id) => findProvider(id)?.settings !== undefined);

  it('leads where the provider lives, or nowhere', async () => {
    for (const [at, id] of withSettings.entries()) await expectAtHome(id, at);
  });

  async function expectAtHome(id: string, at: number): Promise<void> {
    const settings = findProvider(id)?.settings ?? [];
    const askWith = async (over: Record<string, string>) => {
      const before = lab.dns.asked.length;
      const plain = Object.fromEntries(settings.map((name) => [name, 'abc']));
      const headers = Object.entries({ ...plain, ...over }).map(
        ([name, value]) => [`x-service-${name}`, value] as const,
      );
      const answer = await lab.ask({
        headers: { 'x-service-provider': id, ...Object.fromEntries(headers) },
      });
      return { answer, names: new Set(lab.dns.asked.slice(before)) };
    };
    const usual = (await askWith({})).names;
    for (const [index, name] of settings.entries())
      for (const value of inTurns(hostileSettings, 10, at + index)) {
        const { answer, names } = await askWith({ [name]: value });
        expect(answer.status, `${name}: ${value}`).not.toBe(200);
        // A plain text may name another tenant of the vendor's, below the vendor's own name.
        for (const asked of names)
          expect(
            usual.has(asked) || [...usual].some((host) => asked.endsWith(tailOf(host))),
            `${name}: ${value} leads to ${asked}`,
          ).toBe(true);
        for (const connection of lab.connections()) expect(connection).toBe(`${publicAddress} 443`);
      }
  }

  /** `.openai.azure.com` of `abc.openai.azure.com`. */
  function tailOf(host: string): string {
    return host.slice(host.indexOf('.'));
  }
});

describe('a legitimate address', () => {
  it.each([
    ['https://api.openai.com/v1', `${publicAddress} 443`],
    ['https://API.OpenAI.com/v1/', `${publicAddress} 443`],
    ['http://example.com', `${publicAddress} 80`],
    ['https://example.com:8443/v1', `${publicAddress} 8443`],
    ['http://example.com:8000/', `${publicAddress} 8000`],
    ['http://example.com:8080', `${publicAddress} 8080`],
    ['http://example.com:11434/v1', `${publicAddress} 11434`],
    ['https://my-resource.openai.azure.com/openai/deployments/gpt-4o', `${publicAddress} 443`],
    ['https://bedrock-runtime.us-east-1.amazonaws.com', `${publicAddress} 443`],
    ['https://8.8.4.4/v1', '8.8.4.4 443'],
    ['https://1.1.1.1:8443/v1', '1.1.1.1 8443'],
    ['https://172.15.0.1/', '172.15.0.1 443'],
    ['https://172.32.0.1/', '172.32.0.1 443'],
    ['https://100.128.0.1/', '100.128.0.1 443'],
    ['https://[2606:4700:4700::1111]/v1', '2606:4700:4700::1111 443'],
    ['https://[2606:4700:4700::1111]:8443/v1', '2606:4700:4700::1111 8443'],
    ['https://[::ffff:8.8.4.4]/', '::ffff:808:404 443'],
    ['https://0x.example.com/', `${publicAddress} 443`],
    ['https://1password.com/', `${publicAddress} 443`],
    ['https://metadata.example.com/', `${publicAddress} 443`],
    ['https://internal.example.com/', `${publicAddress} 443`],
    ['https://nip.io.example.com/', `${publicAddress} 443`],
    ['https://notnip.io/', `${publicAddress} 443`],
    ['https://consul.example.com/', `${publicAddress} 443`],
    ['https://localhost.example.com/', `${publicAddress} 443`],
    ['https://a.b.c.d.e.f.g.h.example.com/', `${publicAddress} 443`],
  ])('%s is not refused', async (url, connection) => {
    await lab.expectAllowed({ headers: byHeader(url) }, connection);
    lab.forget();
    await lab.expectAllowed({ headers: byConfig({ custom_host: `  ${url} ` }) }, connection);
  });

  const ownAddresses = providerIds().flatMap((id) => {
    const baseUrl = findProvider(id)?.baseUrl;
    const isFixed = typeof baseUrl === 'string' && baseUrl.startsWith('https://');
    return isFixed && !baseUrl.includes('{') ? [[id, new URL(baseUrl).hostname] as const] : [];
  });

  it.each(ownAddresses)('%s is called at %s', async (id, host) => {
    const before = lab.dns.asked.length;
    const answer = await lab.ask({
      path: '/v1/proxy/models',
      headers: { 'x-service-provider': id },
    });
    expect(answer.code).not.toBe('host.invalid');
    expect(new Set(lab.dns.asked.slice(before))).toEqual(
      answer.code === 'upstream.unreachable' ? new Set([host]) : new Set(),
    );
  });
});
