import { bytes, eventually, freshName, json } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  byConfig,
  byHeader,
  closed,
  droppedEntries,
  OutboundLab,
  publicAddress,
  trusting,
} from './outbound/outbound-lab.ts';
import { chatReply } from './scenario.ts';

/** Where a running gateway may be led by what names resolve to, by redirects, and by what an operator trusts. */
let lab: OutboundLab;
beforeAll(async () => {
  lab = await OutboundLab.start(namedAnswers);
});
beforeEach(() => lab.forget());
afterAll(() => lab.stop());

/** What the DNS server says of names under attack.example and corp, by address family, one list for each time. */
const spoken: Record<string, { 4?: string[][]; 6?: string[][] }> = {
  'private.attack.example': { 4: [['10.0.0.1']] },
  'loopback.attack.example': { 4: [['127.0.0.1']] },
  'metadata.attack.example': { 4: [['169.254.169.254']] },
  'any.attack.example': { 4: [['0.0.0.0']] },
  'shared.attack.example': { 4: [['100.64.0.1']] },
  '10-0-0-1.wildcard.attack.example': { 4: [['10.0.0.1']] },
  'one-of-two.attack.example': { 4: [[publicAddress, '10.0.0.1']] },
  'first-of-two.attack.example': { 4: [['192.168.0.1', publicAddress]] },
  'loopback6.attack.example': { 6: [['::1']] },
  'other-family.attack.example': { 4: [[publicAddress]], 6: [['::1']] },
  'mapped.attack.example': { 6: [['::ffff:7f00:1']] },
  'compatible.attack.example': { 6: [['::7f00:1']] },
  'nat64.attack.example': { 6: [['64:ff9b::a9fe:a9fe']] },
  '6to4.attack.example': { 6: [['2002:7f00:1::']] },
  'teredo.attack.example': { 6: [['2001:0:4136:e378:8000:63bf:3fff:fdd2']] },
  'unique-local.attack.example': { 4: [[publicAddress]], 6: [['fd00::1']] },
  'link-local.attack.example': { 6: [['fe80::1']] },
  'metadata6.attack.example': { 6: [['fd00:ec2::254']] },
  'rebind-loopback.attack.example': { 4: [[publicAddress], ['127.0.0.1']] },
  'rebind-metadata.attack.example': { 4: [[publicAddress], ['169.254.169.254']] },
  'rebind-both.attack.example': { 4: [[publicAddress], [publicAddress, '10.0.0.1']] },
  'rebind-other-family.attack.example': { 4: [[publicAddress], []], 6: [[], ['::1']] },
  'llm.corp': { 4: [['10.1.2.3']] },
  'range.attack.example': { 4: [['10.20.0.9']] },
  'vllm.models.svc.cluster.local': { 4: [['10.96.0.7']] },
  'a.wild.corp': { 4: [['10.1.2.3']] },
  'app.localhost': { 4: [['127.0.0.1']] },
  'rebind.corp': { 4: [['10.1.2.3'], ['169.254.169.254']] },
};
const resolving = Object.keys(spoken).filter((name) => name.endsWith('.attack.example'));

/** Names that are answered only when the test says so. */
const held = new Map<string, () => void>();

function namedAnswers(
  name: string,
  family: 4 | 6,
  nth: number,
): readonly string[] | Promise<readonly string[]> {
  if (name.startsWith('held-'))
    return new Promise((resolve) => {
      const answer = held.get(name);
      held.set(name, () => {
        answer?.();
        resolve(family === 4 ? [publicAddress] : []);
      });
    });
  const script = spoken[name.replace(/^go-\d+\./, '')];
  if (script === undefined) return family === 4 ? [publicAddress] : [];
  return script[family]?.[nth] ?? script[family]?.at(-1) ?? [];
}

describe('a name', () => {
  const refused = resolving.filter((name) => !name.startsWith('rebind-'));
  it.each(refused)('%s has an address that is not allowed', async (name) => {
    await lab.expectRefused({ headers: byHeader(`http://${name}/v1`) });
    await lab.expectRefused({ headers: byConfig({ custom_host: `https://${name}/v1` }) });
  });

  const rebinding = resolving.filter((name) => name.startsWith('rebind-'));
  it.each(rebinding)('%s is asked anew for each connection, and refused', async (name) => {
    // What it is answered counts from the first time that anybody asks.
    const asked = { headers: byHeader(`http://${freshName('go')}.${name}/v1`) };
    await lab.expectAllowed(asked, `${publicAddress} 80`);
    lab.forget();
    await lab.expectRefused(asked);
    await lab.expectRefused(asked);
  });

  it('that is trusted may be private, but never a metadata service', async () => {
    const asked = {
      gateway: trusting,
      headers: byHeader(`http://${freshName('go')}.rebind.corp/v1`),
    };
    await lab.expectAllowed(asked, '10.1.2.3 80');
    lab.forget();
    await lab.expectRefused(asked);
  });

  it('waits when five are being looked up for the same workspace', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `held-${index}.example.com`);
    const before = lab.dns.asked.length;
    const asked = () => new Set(lab.dns.asked.slice(before));
    const all = Promise.all(names.map((name) => lab.ask({ headers: byHeader(`http://${name}`) })));
    const seen: number[] = [];
    while (asked().size < names.length || held.size > 0) {
      await eventually(() => held.size > 0);
      // Longer than it takes to ask for one more.
      await new Promise((resolve) => setTimeout(resolve, 50));
      seen.push(held.size);
      for (const [name, answer] of [...held]) {
        held.delete(name);
        answer();
      }
    }
    for (const answer of await all) expect(answer.code).toBe('upstream.unreachable');
    expect(Math.max(...seen)).toBe(5);
  });
});

describe('a redirect', () => {
  it.each([
    [301, 'http://169.254.169.254/latest/meta-data/'],
    [302, 'http://metadata.google.internal/'],
    [303, 'http://127.0.0.1:6379/'],
    [307, 'http://rebind.corp/'],
    [308, '//10.0.0.1/'],
  ])('%i to %s is the caller’s to see, and not followed', async (status, location) => {
    lab.upstream.handle(bytes(status, Buffer.from('moved'), { location }));
    for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions', '/v1/files']) {
      const seen = lab.upstream.requests.length;
      const headers = byHeader(`${lab.upstream.url}/v1`);
      expect((await lab.ask({ gateway: trusting, path, headers })).status).toBe(status);
      expect(lab.upstream.requests).toHaveLength(seen + 1);
    }
    expect(lab.connections()).toEqual([]);
  });
});

describe('a trusted host', () => {
  it.each([
    ['http://llm.corp/v1', '10.1.2.3 80'],
    ['http://a.wild.corp:8080/v1', '10.1.2.3 8080'],
    ['http://10.0.0.5:8000/v2', '10.0.0.5 8000'],
    ['http://10.20.255.1:9000/v2', '10.20.255.1 9000'],
    ['http://vllm.models.svc.cluster.local:8000/v1', '10.96.0.7 8000'],
    ['http://range.attack.example/v1', '10.20.0.9 80'],
    ['http://127.0.0.1:9000/', '127.0.0.1 9000'],
    ['http://[::1]:9000/', '::1 9000'],
    ['http://[0:0:0:0:0:0:0:1]:9000/', '::1 9000'],
    ['http://localhost:9000/', '127.0.0.1 9000'],
    ['http://app.localhost:3000/', '127.0.0.1 3000'],
  ])('opens %s to those who list it, and nobody else', async (url, connection) => {
    await lab.expectAllowed({ gateway: trusting, headers: byHeader(url) }, connection);
    lab.forget();
    await lab.expectRefused({ gateway: closed, headers: byHeader(url) });
  });

  it.each([
    'http://10.0.0.6/',
    'http://10.0.0.5:9000/',
    'http://10.21.0.1/',
    'http://kubernetes.default.svc.cluster.local/',
    'http://x.kubernetes.default.svc/',
    'http://127.0.0.2/',
    'http://[::2]/',
    'http://[::ffff:10.0.0.5]/',
    'http://llm.corp.evil.local/',
    'http://xllm.corp/',
    'http://db.internal/',
    'http://llm.corp:22/',
    'http://10.0.0.5:6379/',
    'http://localhost:5432/',
    'http://private.attack.example/',
  ])('does not open %s', (url) => lab.expectRefused({ gateway: trusting, headers: byHeader(url) }));

  it('drops what can never be trusted, and says so at start', () => {
    const told = lab.scenario.stack.part('gateway-2').stderr();
    for (const entry of droppedEntries) expect(told).toContain(`"entry":"${entry}","reason":"`);
    expect(told).not.toContain('"entry":"llm.corp"');
  });
});

describe('the gateway itself', () => {
  it.each(['https://gateway.example.com/v1', 'https://GATEWAY.example.com:8443/v1'])(
    'is not called as %s',
    async (url) => {
      await lab.expectRefused({ headers: byHeader(url) });
      await lab.expectRefused({ gateway: trusting, headers: byHeader(url) });
    },
  );

  it.each(['127.0.0.1', 'localhost', '[::1]', 'app.localhost'])(
    'is not called as %s with its port',
    (host) => {
      const { port } = new URL(lab.scenario.stack.gatewayUrls[trusting] ?? '');
      return lab.expectRefused({
        gateway: trusting,
        headers: byHeader(`http://${host}:${port}/v1`),
      });
    },
  );
});

describe('a reply', () => {
  it('larger than RESPONSE_BODY_BYTES_MAX passes unread, and is refused where it has to be read', async () => {
    lab.upstream.handle(json(200, { ...chatReply, padding: 'x'.repeat(100_000) }));
    const headers = byHeader(`${lab.upstream.url}/v1`);
    const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] };
    const held = await lab.ask({ gateway: trusting, path: '/v1/messages', headers, body });
    expect([held.status, held.code]).toEqual([502, 'upstream.response_too_large']);
    for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions']) {
      const passed = await lab.ask({ gateway: trusting, path, headers });
      expect([passed.status, passed.text.length > 100_000]).toEqual([200, true]);
    }
  });
});
