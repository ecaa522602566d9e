import { GatewayError } from '@sluice/errors';
import { describe, expect, it } from 'vitest';
import {
  checkHostAndPort,
  checkUpstreamUrl,
  isAddressAllowed,
  makeHostRules,
} from './host-rules.ts';
import { hostileUrls, neverTrustedUrls } from './hostile-urls.ts';

const production = makeHostRules({ trusted: undefined, production: true });
const development = makeHostRules({ trusted: undefined, production: false });
const trusting = (...trusted: string[]) => makeHostRules({ trusted, production: true });

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
    expect(rules.accepted.size).toBe(1);
  });

  it('forgets old answers instead of growing with every new host', () => {
    const rules = trusting();
    for (let i = 0; i < 6_000; i += 1) checkUpstreamUrl(`https://h${i}.example.com/`, rules);
    expect(rules.accepted.size).toBe(5_000);
    checkUpstreamUrl(`${' '.repeat(10_000)}https://padded.example.com/`, rules);
    expect([...rules.accepted.keys()].every((key) => key.length <= 2_048)).toBe(true);
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
    ['http://llm.corp:8080/v1', 'http://llm.corp:9000/v2'],
    ['llm.corp:8080', 'http://llm.corp/v1'],
    ['10.0.0.5', 'http://10.0.0.5:8000/v1'],
    ['http://10.0.0.5:8000', 'http://10.0.0.5/v1'],
    ['[fd00::5]', 'http://[fd00::5]:8000/v1'],
    ['fd00::5', 'http://[fd00:0::0:5]/v1'],
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
  ])('with %j, %j is still refused', (entry, url) => {
    expect(refusalOf(url, trusting(entry))).toBeDefined();
  });

  it.each([
    '169.254.169.254',
    'http://169.254.169.254/latest',
    '100.100.100.200',
    'fd00:ec2::254',
    'metadata',
    'metadata.google.internal',
    'x.cluster.local',
    '*.nip.io',
    '*.10.0.0.1',
    '10.0.0.0/8',
    '*',
    '',
    '2130706433',
    '0x7f000001',
    'exa mple.com',
    'xn--80ak6aa92e.com',
  ])('drops %j and says so', (entry) => {
    const rules = trusting(entry, 'llm.corp');
    expect(rules.droppedTrusted).toEqual([entry]);
    expect(refusalOf('http://llm.corp/', rules)).toBeUndefined();
  });

  it('does not let a trusted parent open an always-blocked name', () => {
    expect(refusalOf('http://metadata.google.internal/', trusting('internal'))).toBeDefined();
    expect(refusalOf('http://llm.internal/', trusting('internal'))).toBeUndefined();
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
