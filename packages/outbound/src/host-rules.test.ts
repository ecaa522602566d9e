import { networkInterfaces } from 'node:os';
import { GatewayError } from '@sluice/errors';
import { describe, expect, it } from 'vitest';
import {
  checkHostAndPort,
  checkUpstreamUrl,
  type HostRules,
  isAddressAllowed,
  makeHostRules,
} from './host-rules.ts';
import { hostileUrls, neverTrustedUrls } from './hostile-urls.ts';
import { hostAndPort } from './own-services.ts';

const production = makeHostRules({ trusted: undefined, production: true });
const development = makeHostRules({ trusted: undefined, production: false });
/** Lists them for callers, and so for everybody. */
const trusting = (...trustedForCallers: string[]) =>
  makeHostRules({ trusted: [], trustedForCallers, production: true });

function refusalOf(raw: string, rules = production, field?: string): GatewayError | undefined {
  try {
    checkUpstreamUrl(raw, rules, field);
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'host.invalid') return error;
    throw error;
  }
}

describe('checkUpstreamUrl', () => {
  it('has at least a hundred different hostile spellings to refuse', () => {
    expect(new Set(hostileUrls).size).toBeGreaterThanOrEqual(100);
  });

  it.each(hostileUrls)('refuses %j', (raw) => {
    expect(refusalOf(raw)).toBeDefined();
  });

  // 127.0.0.1, ::1 and localhost are trusted here, which must not open their disguises.
  it.each(neverTrustedUrls)('refuses %j although the host behind it is trusted', (raw) => {
    const everything = [
      '127.0.0.1',
      '::1',
      'localhost',
      '8.8.8.8',
      'example.com',
      '169.254.169.254',
      'metadata.google.internal',
      'nip.io',
    ];
    expect(refusalOf(raw, trusting(...everything))).toBeDefined();
  });

  it.each([
    'https://api.openai.com/v1',
    'https://API.OpenAI.com/v1',
    'http://example.com',
    'https://example.com:8443/v1?api-version=2024-10-21',
    'http://example.com:8000/',
    'http://example.com:8080',
    'http://example.com:11434/v1',
    'https://my-resource.openai.azure.com/openai/deployments/gpt-4o',
    'https://bedrock-runtime.us-east-1.amazonaws.com',
    'https://8.8.8.8/v1',
    'https://1.1.1.1:8443/v1',
    'https://[2606:4700:4700::1111]/v1',
    'https://[2606:4700:4700::1111]:8443/v1',
    'https://[::ffff:8.8.8.8]/',
    'https://0x.example.com/',
    'https://1password.com/',
    'https://metadata.example.com/',
    'https://internal.example.com/',
    'https://localhost.example.com/',
    'https://a.b.c.d.e.f.g.h.example.com/',
    '  https://example.com/v1  ',
  ])('accepts %j', (raw) => {
    expect(refusalOf(raw)).toBeUndefined();
    expect(checkUpstreamUrl(raw, production).url.href).toBe(new URL(raw.trim()).href);
  });

  it('names the place of the fault and never the reason only an operator may know', () => {
    const refusal = refusalOf('http://127.0.0.1/', production, 'x-service-custom-host');
    expect(refusal).toMatchObject({ status: 400, field: 'x-service-custom-host' });
  });

  it('gives the same answer to the same text without checking again, and keeps no refusals', () => {
    const rules = trusting();
    const first = checkUpstreamUrl('https://example.com/v1', rules);
    expect(checkUpstreamUrl('https://example.com/v1', rules)).toBe(first);
    refusalOf('http://127.0.0.1/', rules);
    expect(rules.accepted.caller.size).toBe(1);
  });

  it('forgets old answers instead of growing with every new host', () => {
    const rules = trusting();
    for (let i = 0; i < 6_000; i += 1) checkUpstreamUrl(`https://h${i}.example.com/`, rules);
    expect(rules.accepted.caller.size).toBe(5_000);
    checkUpstreamUrl(`${' '.repeat(10_000)}https://padded.example.com/`, rules);
    expect([...rules.accepted.caller.keys()].every((key) => key.length <= 2_048)).toBe(true);
  });

  it('refuses the gateway itself, under each name of loopback', () => {
    const rules = makeHostRules({
      trusted: undefined,
      production: false,
      ownHosts: ['127.0.0.1:8787', 'gateway.example.com'],
    });
    for (const own of [
      'http://127.0.0.1:8787/v1',
      'http://localhost:8787/',
      'http://[::1]:8787/',
      'https://gateway.example.com/v1',
      'https://gateway.example.com:8443/v1',
    ])
      expect(refusalOf(own, rules), own).toBeDefined();
    expect(refusalOf('http://127.0.0.1:8799/', rules)).toBeUndefined();
  });
});

describe('TRUSTED_CUSTOM_HOSTS', () => {
  it('trusts the names of this machine by default, but not in production', () => {
    for (const url of [
      'http://localhost:8799/v1',
      'http://127.0.0.1:8799',
      'http://[::1]:8799',
      'http://[0:0:0:0:0:0:0:1]:8799',
      'http://host.docker.internal:11434/v1',
      'http://app.localhost:3000/',
    ]) {
      expect(refusalOf(url, development), url).toBeUndefined();
      expect(refusalOf(url, production), url).toBeDefined();
    }
    expect(refusalOf('http://127.0.0.2:8799', development)).toBeDefined();
  });

  it('replaces the defaults when set, also when set to nothing', () => {
    expect(
      refusalOf('http://localhost/', makeHostRules({ trusted: [], production: false })),
    ).toBeDefined();
    expect(
      refusalOf('http://localhost/', makeHostRules({ trusted: ['llm.corp'], production: false })),
    ).toBeDefined();
  });

  it.each([
    ['llm.corp', 'http://llm.corp/v1'],
    ['llm.corp', 'http://a.llm.corp/v1'],
    ['*.llm.corp', 'http://a.b.llm.corp/v1'],
    ['*.llm.corp', 'http://llm.corp/v1'],
    ['LLM.Corp', 'http://llm.corp/v1'],
    ['http://llm.corp:8080/v1', 'http://llm.corp:8080/v2'],
    ['http://llm.corp/v1', 'http://llm.corp:9000/v2'],
    ['llm.corp:8080', 'http://a.llm.corp:8080/v1'],
    ['10.0.0.5', 'http://10.0.0.5:8000/v1'],
    ['http://10.0.0.5:8000', 'http://10.0.0.5:8000/v1'],
    ['127.0.0.1:11434', 'http://127.0.0.1:11434/api'],
    ['[fd00::5]', 'http://[fd00::5]:8000/v1'],
    ['[fd00::5]:8000', 'http://[fd00::5]:8000/v1'],
    ['fd00::5', 'http://[fd00:0::0:5]/v1'],
    ['10.0.0.0/8', 'http://10.255.0.1:8000/v1'],
    ['10.1.2.3/8', 'http://10.255.0.1:8000/v1'],
    ['fd00::/8', 'http://[fdff::1]/v1'],
    ['[fd00::]/8:8000', 'http://[fdff::1]:8000/v1'],
    ['*.svc.cluster.local', 'http://vllm.models.svc.cluster.local:8000/v1'],
    ['cluster.local', 'http://vllm.models.svc.cluster.local:8000/v1'],
    ['ip-10-0-0-1.ec2.internal', 'http://ip-10-0-0-1.ec2.internal/'],
  ])('with %j, %j is accepted', (entry, url) => {
    expect(refusalOf(url, trusting(entry))).toBeUndefined();
    expect(refusalOf(url, production)).toBeDefined();
  });

  it.each([
    ['llm.corp', 'http://llm.corp.evil.local/'],
    ['llm.corp', 'http://xllm.corp/'],
    ['10.0.0.5', 'http://10.0.0.6/'],
    ['10.0.0.5', 'http://[::ffff:10.0.0.5]/'],
    ['llm.corp', 'http://llm.corp:6379/'],
    ['llm.corp:8080', 'http://llm.corp/v1'],
    ['http://llm.corp:8080/v1', 'http://llm.corp:9000/v2'],
    ['127.0.0.1:11434', 'http://127.0.0.1:11435/'],
    ['localhost:11434', 'http://localhost/'],
    ['[::1]:11434', 'http://[::1]:8788/'],
    ['10.0.0.0/8', 'http://11.0.0.1.corp/'],
    ['10.0.0.0/8', 'http://192.168.0.1/'],
    ['10.0.0.0/8:8000', 'http://10.0.0.1:8001/'],
    ['fd00::/8', 'http://[fc00::1]/'],
    ['0.0.0.0/0', 'http://169.254.169.254/'],
    ['::/0', 'http://[fd00:ec2::254]/'],
    ['*.svc.cluster.local', 'http://kubernetes.default.svc.cluster.local/'],
    ['*.svc.cluster.local', 'http://x.kubernetes.default.svc.cluster.local/'],
    ['cluster.local', 'http://consul/'],
  ])('with %j, %j is still refused', (entry, url) => {
    expect(refusalOf(url, trusting(entry))).toBeDefined();
  });

  it.each([
    ['169.254.169.254', 'metadata'],
    ['http://169.254.169.254/latest', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['metadata', 'never called'],
    ['metadata.google.internal', 'never called'],
    ['kubernetes', 'never called'],
    ['kubernetes.default.svc', 'never called'],
    ['kubernetes.default.svc.other.domain', 'never called'],
    ['*.nip.io', 'never called'],
    ['llm.corp:6379', 'port 6379'],
    ['llm.corp:0', 'from 1 to 65535'],
    ['llm.corp:70000', 'from 1 to 65535'],
    ['*.10.0.0.1', 'below an address'],
    ['10.0.0.0/33', 'neither a host nor a range'],
    ['fd00::/129', 'neither a host nor a range'],
    ['llm.corp/8', 'neither a host nor a range'],
    ['*', 'a star can only stand first'],
    ['a.*.corp', 'a star can only stand first'],
    ['', 'empty'],
    ['2130706433', 'not a plain name'],
    ['0x7f000001', 'not a plain name'],
    ['exa mple.com', 'not a plain name'],
    ['xn--80ak6aa92e.com', 'not a plain name'],
  ])('drops %j and says why', (entry, reason) => {
    const rules = trusting(entry, 'llm.corp');
    expect(rules.dropped).toEqual([
      { setting: 'TRUSTED_CALLER_HOSTS', entry, reason: expect.stringContaining(reason) },
    ]);
    expect(refusalOf('http://llm.corp/', rules)).toBeUndefined();
  });

  it('does not let a trusted parent open an always-blocked name', () => {
    expect(refusalOf('http://metadata.google.internal/', trusting('internal'))).toBeDefined();
    expect(refusalOf('http://llm.internal/', trusting('internal'))).toBeUndefined();
  });
});

describe('whose address it is', () => {
  const byAdmin = (raw: string, rules: HostRules) => checkUpstreamUrl(raw, rules, 'x', 'admin');

  it('decides which list counts: TRUSTED_CUSTOM_HOSTS is for what admins save', () => {
    const rules = makeHostRules({ trusted: ['llm.corp'], production: true });
    expect(byAdmin('http://llm.corp/v1', rules).trusted).toBe(true);
    expect(refusalOf('http://llm.corp/v1', rules)?.message).toContain('TRUSTED_CALLER_HOSTS');
  });

  it('is forgotten for no text: what an admin may name is refused to a caller afterwards, and before', () => {
    const rules = makeHostRules({ trusted: ['llm.corp'], production: true });
    for (const _ of [1, 2]) {
      expect(refusalOf('http://llm.corp/v1', rules)).toBeDefined();
      expect(byAdmin('http://llm.corp/v1', rules).trusted).toBe(true);
    }
  });

  it('gives an admin what callers may name', () => {
    expect(byAdmin('http://llm.corp/v1', trusting('llm.corp')).trusted).toBe(true);
  });

  it('closes the default of callers when the list of admins is set', () => {
    const rules = makeHostRules({ trusted: ['llm.corp'], production: false });
    expect(refusalOf('http://localhost:11434/', rules)).toBeDefined();
  });
});

describe('the parts of this installation', () => {
  const rules = makeHostRules({
    trusted: ['0.0.0.0/0', '::/0', 'localhost', 'host.docker.internal', 'sluice-data', 'corp'],
    trustedForCallers: [
      '0.0.0.0/0',
      '::/0',
      'localhost',
      'host.docker.internal',
      'sluice-data',
      'corp',
    ],
    production: true,
    ownHosts: ['gateway.example.com', '10.9.0.0/16:9000', '10.8.0.1'],
    ownParts: [
      '0.0.0.0:8787',
      'http://127.0.0.1:8788',
      '127.0.0.1:8790',
      'https://control.corp',
      'sluice-data:8791',
      'redis://user:pass@cache.corp:16379/0',
      'nats://queue.corp:14222',
      'postgres://u:p@10.7.0.1:15432/db',
      undefined,
    ],
  });
  const interfaces = Object.values(networkInterfaces())
    .flatMap((of) => of ?? [])
    .filter(({ family }) => family === 'IPv4')
    .map(({ address }) => address);

  it.each([
    ...[8787, 8788, 8790].flatMap((port) => [
      `http://127.0.0.1:${port}/metrics`,
      `http://127.0.0.2:${port}/`,
      `http://127.255.255.254:${port}/`,
      `http://0.0.0.0:${port}/`,
      `http://localhost:${port}/`,
      `http://app.localhost:${port}/`,
      `http://LOCALHOST:${port}/`,
      `http://[::1]:${port}/`,
      `http://[::]:${port}/`,
      `http://[0:0:0:0:0:0:0:1]:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      `http://[::ffff:7f00:1]:${port}/`,
      `http://[::127.0.0.1]:${port}/`,
      `http://host.docker.internal:${port}/`,
      ...interfaces.map((address) => `http://${address}:${port}/`),
    ]),
    'https://control.corp/',
    'http://control.corp:443/',
    'http://sluice-data:8791/',
    'http://host.docker.internal:8791/',
    'http://cache.corp:16379/',
    'http://queue.corp:14222/',
    'http://10.7.0.1:15432/',
    'http://gateway.example.com/',
    'https://gateway.example.com:8443/',
    'http://10.9.1.1:9000/',
    'http://10.8.0.1:1234/',
  ])('are not called as %s, whoever wrote it', (url) => {
    expect(refusalOf(url, rules), url).toBeDefined();
    expect(() => checkUpstreamUrl(url, rules, 'x', 'admin')).toThrow(GatewayError);
  });

  it.each([
    'http://127.0.0.1:8799/v1',
    'http://localhost:11434/',
    'http://host.docker.internal:11434/',
    'http://control.corp:8000/',
    'http://sluice-data:8000/',
    'http://10.9.1.1:9001/',
    'http://8.8.8.8:8788/',
  ])('are not %s', (url) => {
    expect(refusalOf(url, rules)).toBeUndefined();
  });

  it('have no say in other ports when a port is still to be chosen', () => {
    expect(hostAndPort('127.0.0.1', 0)).toBeUndefined();
    expect(hostAndPort('::', 8787)).toBe('[::]:8787');
  });
});

describe('checkHostAndPort', () => {
  it.each([
    ['metadata.google.internal.', 80],
    ['2130706433', 80],
    ['0x7f.1', 80],
    ['127.0.0.1', 80],
    ['::1', 80],
    ['example.com', 0],
    ['example.com', 22],
    ['a'.repeat(64), 80],
    ['fe80::1%eth0', 80],
  ] as const)('refuses %j port %j, whatever way it came', (host, port) => {
    expect(() => checkHostAndPort(host, port, production)).toThrow(GatewayError);
  });
});

describe('isAddressAllowed', () => {
  it('lets a trusted host be private, but never a metadata service', () => {
    for (const ip of [
      '10.1.2.3',
      '127.0.0.1',
      '192.168.0.1',
      '::1',
      'fd00::1',
      '::ffff:10.0.0.1',
      'fe80::1',
    ]) {
      expect(isAddressAllowed(ip, { trusted: true }), ip).toBe(true);
      expect(isAddressAllowed(ip, { trusted: false }), ip).toBe(false);
    }
    for (const ip of [
      '169.254.169.254',
      '169.254.170.2',
      '168.63.129.16',
      'fd00:ec2::254',
      '::ffff:169.254.169.254',
      '64:ff9b::a9fe:a9fe',
      '2002:a9fe:a9fe::',
      'not an address',
      '',
    ])
      expect(isAddressAllowed(ip, { trusted: true }), ip).toBe(false);
  });

  it.each([
    ['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
    ['100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
    ['126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
    ['169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
    ['172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
    ['192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
    ['198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
    ['fbff::', 'fc00::', 'fdff:ffff::', '2606:4700::1'],
    ['2000:ffff::', '2001::', '2001:1ff::1', '2001:200::'],
    ['2001:db7::', '2001:db8::', '2001:db8:ffff::', '2001:db9::'],
  ])(
    'closes the range after %s from %s to %s and no further than %s',
    (before, first, last, after) => {
      if (!before.startsWith('fbff'))
        expect(isAddressAllowed(before, { trusted: false })).toBe(true);
      expect(isAddressAllowed(first, { trusted: false })).toBe(false);
      expect(isAddressAllowed(last, { trusted: false })).toBe(false);
      expect(isAddressAllowed(after, { trusted: false })).toBe(true);
    },
  );
});

describe('an air gap', () => {
  const gap = makeHostRules({
    trusted: ['llm.corp'],
    trustedForCallers: [],
    production: true,
    airGap: { hosts: undefined, named: ['https://sts.agency.example'] },
  });
  const listed = makeHostRules({
    trusted: ['llm.corp'],
    production: true,
    airGap: { hosts: ['*.mirror.example', '203.0.114.0/24', 'one.example:8443', 'nip.io'] },
  });
  const codeOf = (url: string, rules: HostRules, by: 'admin' | 'vendor' | 'caller') => {
    try {
      checkUpstreamUrl(url, rules, 'field', by);
      return undefined;
    } catch (error) {
      return (error as GatewayError).code;
    }
  };

  it.each([
    ['https://api.openai.com/v1', 'vendor', 'host.air_gapped'],
    ['https://api.openai.com/v1', 'caller', 'host.air_gapped'],
    ['https://8.8.8.8/v1', 'caller', 'host.air_gapped'],
    ['https://models.example.com/v1', 'admin', undefined],
    ['https://8.8.8.8/v1', 'admin', undefined],
    ['http://llm.corp/v1', 'vendor', undefined],
    ['http://other.corp/v1', 'admin', 'host.invalid'],
    ['https://sts.agency.example/', 'vendor', undefined],
  ] as const)('%s of %s: %s', (url, by, code) => {
    expect(codeOf(url, gap, by)).toBe(code);
    // Asked again it is the same: what one author may is not kept for another.
    expect(codeOf(url, gap, by)).toBe(code);
  });

  it.each([
    ['https://models.example.com/v1', 'admin', 'host.air_gapped'],
    ['https://a.mirror.example/v1', 'caller', undefined],
    ['https://mirror.example/v1', 'vendor', undefined],
    ['https://203.0.114.9/v1', 'caller', undefined],
    ['https://one.example/v1', 'admin', 'host.air_gapped'],
    ['https://one.example:8443/v1', 'caller', undefined],
    ['http://llm.corp/v1', 'admin', undefined],
  ] as const)('with a list, %s of %s: %s', (url, by, code) => {
    expect(codeOf(url, listed, by)).toBe(code);
  });

  it('says what an operator has to do', () => {
    const messageOf = (rules: HostRules, by: 'vendor' | 'caller') => {
      try {
        return checkHostAndPort('api.openai.com', 443, rules, 'x', by);
      } catch (error) {
        return (error as GatewayError).message;
      }
    };
    expect(messageOf(gap, 'vendor')).toMatch(
      /api\.openai\.com.*AIRGAP=true.*custom_host.*AIRGAP_HOSTS/,
    );
    expect(messageOf(gap, 'caller')).toMatch(/AIRGAP_HOSTS or TRUSTED_CALLER_HOSTS/);
    expect(messageOf(listed, 'vendor')).toMatch(/AIRGAP_HOSTS does not list it/);
    expect(listed.dropped).toEqual([
      expect.objectContaining({ setting: 'AIRGAP_HOSTS', entry: 'nip.io' }),
    ]);
  });
});
