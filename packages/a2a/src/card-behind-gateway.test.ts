import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CardFault, readCard, skillsOf } from './card.ts';
import { cardBehindGateway, type GatewayFace } from './card-behind-gateway.ts';
import { SealedAddresses } from './sealed-address.ts';

const sealed = new SealedAddresses('a secret of this test');
const gatewayUrl = 'https://gateway.example/v1/agent/helper/';

const face: GatewayFace = {
  registeredUrl: 'https://agents.example/helper',
  gatewayUrl,
  subPathOf: (address) => sealed.seal('server-1', address),
  isSkillEnabled: (id) => id !== 'off',
  allowsPush: true,
  keyHeader: 'x-service-api-key',
};

const cardOf03 = {
  protocolVersion: '0.3.0',
  name: 'Helper <script>alert(1)</script>',
  description: 'Helps',
  url: 'https://agents.example/helper/rpc',
  preferredTransport: 'JSONRPC',
  additionalInterfaces: [
    { url: 'https://agents.example/helper/rest', transport: 'HTTP+JSON' },
    { url: 'https://agents.example/helper/grpc', transport: 'GRPC' },
    { url: 'https://elsewhere.example/rpc', transport: 'JSONRPC' },
    { url: '../sideways', transport: 'HTTP+JSON' },
  ],
  capabilities: { streaming: true, pushNotifications: true },
  skills: [
    { id: 'on', name: 'On', security: [{ upstream: [] }] },
    { id: 'off', name: 'Off' },
  ],
  securitySchemes: { upstream: { type: 'oauth2' } },
  security: [{ upstream: [] }],
  signatures: [{ protected: 'a', signature: 'b' }],
  'x-of-the-agent': { kept: true },
};

const cardOf10 = {
  name: 'Helper',
  description: 'Helps',
  supportedInterfaces: [
    { url: 'https://agents.example/helper', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    {
      url: 'https://agents.example/helper/rest',
      protocolBinding: 'HTTP+JSON',
      protocolVersion: '1.0',
      tenant: 'acme',
    },
    { url: 'https://agents.example:443/helper/x', protocolBinding: 'grpc', protocolVersion: '1.0' },
    { url: 'http://agents.example/helper', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  ],
  capabilities: { streaming: true, pushNotifications: true },
  securitySchemes: { upstream: { apiKeySecurityScheme: { location: 'header', name: 'k' } } },
  securityRequirements: [{ schemes: { upstream: { list: [] } } }],
  skills: [{ id: 'off' }, { id: 'on', securityRequirements: [{ schemes: {} }] }],
  signatures: [{ protected: 'a', signature: 'b' }],
};

describe('cardBehindGateway', () => {
  it('leads every interface of a card of 0.3 through the gateway', () => {
    const shown = cardBehindGateway(cardOf03, face);
    expect(shown.url).toBe(`${gatewayUrl}rpc`);
    expect(shown.preferredTransport).toBe('JSONRPC');
    expect(shown.additionalInterfaces).toEqual([
      { url: `${gatewayUrl}rest`, transport: 'HTTP+JSON' },
      {
        url: `${gatewayUrl}${sealed.seal('server-1', 'https://elsewhere.example/rpc')}`,
        transport: 'JSONRPC',
      },
      {
        url: `${gatewayUrl}${sealed.seal('server-1', 'https://agents.example/sideways')}`,
        transport: 'HTTP+JSON',
      },
    ]);
    expect(shown.skills).toEqual([{ id: 'on', name: 'On' }]);
    expect(shown.securitySchemes).toEqual({
      gateway: { type: 'apiKey', in: 'header', name: 'x-service-api-key' },
      bearer: { type: 'http', scheme: 'bearer' },
    });
    expect(shown.security).toEqual([{ gateway: [] }, { bearer: [] }]);
    expect(shown).not.toHaveProperty('signatures');
    expect(shown).not.toHaveProperty('securityRequirements');
    expect(shown['x-of-the-agent']).toEqual({ kept: true });
    expect(shown.name).toBe(cardOf03.name);
  });

  it('leads every interface of a card of 1.0 through the gateway, and gives it no address of 0.3', () => {
    const shown = cardBehindGateway(cardOf10, face);
    expect(shown.supportedInterfaces).toEqual([
      { url: gatewayUrl, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      {
        url: `${gatewayUrl}rest`,
        protocolBinding: 'HTTP+JSON',
        protocolVersion: '1.0',
        tenant: 'acme',
      },
      {
        url: `${gatewayUrl}${sealed.seal('server-1', 'http://agents.example/helper')}`,
        protocolBinding: 'JSONRPC',
        protocolVersion: '1.0',
      },
    ]);
    expect(shown).not.toHaveProperty('url');
    expect(shown).not.toHaveProperty('security');
    expect(shown).not.toHaveProperty('signatures');
    expect(shown.skills).toEqual([{ id: 'on' }]);
    expect(shown.securityRequirements).toEqual([
      { schemes: { gateway: { list: [] } } },
      { schemes: { bearer: { list: [] } } },
    ]);
  });

  it('finds what it replaces under every spelling that a client reads', () => {
    const shown = cardBehindGateway(
      {
        name: 'n',
        URL: 'https://evil.example/',
        supported_interfaces: [{ URL: 'https://evil.example/', protocol_binding: 'JSONRPC' }],
        Additional_Interfaces: [{ url: 'https://agents.example/helper', transport: 'gRPC' }],
        security_schemes: { a: 1 },
        security_requirements: [{}],
        Signatures: [{}],
      },
      { ...face, subPathOf: () => undefined },
    );
    expect(JSON.stringify(shown)).not.toContain('evil');
    expect(shown).not.toHaveProperty('Signatures');
    expect(shown).not.toHaveProperty('security_schemes');
    expect(shown.supported_interfaces).toEqual([]);
    expect(shown.Additional_Interfaces).toEqual([]);
  });

  it('begins with another interface where the first is gRPC, and drops callbacks where none are allowed', () => {
    const shown = cardBehindGateway(
      { ...cardOf03, preferredTransport: 'GRPC' },
      { ...face, allowsPush: false },
    );
    expect(shown.url).toBe(`${gatewayUrl}rest`);
    expect(shown.preferredTransport).toBe('HTTP+JSON');
    expect(shown.capabilities).toEqual({ streaming: true, pushNotifications: false });
  });

  it('names no address but the gateway, whatever an agent writes in the place of one', () => {
    const odd = fc.oneof(
      fc.constantFrom(
        'javascript:alert(1)',
        'data:text/html,x',
        '//evil.example/x',
        'https://user:pass@agents.example/helper',
        'https://agents.example/helper/../admin',
        'https://agents.example/helper/%2e%2e/admin',
        'https://agents.example/helperx',
        'https://agents.example\\@evil.example/',
        'ftp://agents.example/helper',
        '/',
        '',
        '?q=1',
        '#x',
      ),
      fc.webUrl({ withQueryParameters: true, withFragments: true }),
      fc.string(),
      fc.anything(),
    );
    fc.assert(
      fc.property(odd, odd, fc.boolean(), (main, other, isSealed) => {
        const shown = cardBehindGateway(
          {
            name: 'n',
            url: main,
            additionalInterfaces: [{ url: other }],
            supportedInterfaces: [{ url: main }, { url: other }],
            iconUrl: main,
            documentationUrl: 'javascript:alert(1)',
            provider: { organization: 'o', url: 'data:text/html,x' },
          },
          isSealed ? face : { ...face, subPathOf: () => undefined },
        );
        const listed = [shown.additionalInterfaces, shown.supportedInterfaces].flat() as {
          url: string;
        }[];
        for (const url of [shown.url as string, ...listed.map((one) => one.url)])
          expect(url.startsWith(gatewayUrl), url).toBe(true);
        expect(shown).not.toHaveProperty('documentationUrl');
        expect(shown.provider).toEqual({ organization: 'o' });
        const icon = shown.iconUrl;
        expect(icon === undefined || /^https?:/i.test(icon as string)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('readCard', () => {
  const read = (text: string) => () => readCard(Buffer.from(text));

  it('takes cards of both generations, and refuses what is none or costs too much', () => {
    expect(readCard(Buffer.from(JSON.stringify(cardOf03))).name).toBe(cardOf03.name);
    expect(readCard(Buffer.from(JSON.stringify(cardOf10))).name).toBe('Helper');
    expect(read('<html>')).toThrow(CardFault);
    expect(read('[]')).toThrow('no JSON object');
    expect(read('{"url":"https://a.example"}')).toThrow('without name');
    expect(read('{"name":"n"}')).toThrow('without url');
    expect(read(`{"name":"n","url":"u","x":${'['.repeat(5000)}${']'.repeat(5000)}}`)).toThrow(
      'nested',
    );
    expect(read(`{"name":"n","url":"u","x":"${'x'.repeat(1024 * 1024)}"}`)).toThrow('larger');
    expect(read(`{"name":"n","url":"u","x":[${'{},'.repeat(100_000)}1]}`)).toThrow('values');
  });

  it('finds skills by their ids, and no others', () => {
    const card = { skills: [{ id: 'a' }, { id: '' }, 7, { name: 'b' }, { id: 'a', name: 'A' }] };
    expect(skillsOf(card)).toEqual([{ id: 'a', skill: { id: 'a', name: 'A' } }]);
    expect(skillsOf(null)).toEqual([]);
    expect(skillsOf({ skills: 'x' })).toEqual([]);
  });
});

describe('SealedAddresses', () => {
  it('opens for its own server and secret alone, and seals the same alike', () => {
    const address = 'https://elsewhere.example/rpc?x=1';
    const segment = sealed.seal('server-1', address);
    expect(sealed.seal('server-1', address)).toBe(segment);
    expect(segment).toMatch(/^~[A-Za-z0-9_-]+$/);
    expect(segment).not.toContain('elsewhere');
    expect(sealed.open('server-1', segment)).toBe(address);
    expect(sealed.open('server-2', segment)).toBeUndefined();
    expect(new SealedAddresses('another').open('server-1', segment)).toBeUndefined();
    expect(sealed.open('server-1', '~joe')).toBeUndefined();
    fc.assert(
      fc.property(fc.nat(segment.length - 2), (at) => {
        const flipped = segment[at + 1] === 'A' ? 'B' : 'A';
        const forged = segment.slice(0, at + 1) + flipped + segment.slice(at + 2);
        // The last character has bits that belong to no byte.
        if (
          Buffer.from(forged.slice(1), 'base64url').equals(
            Buffer.from(segment.slice(1), 'base64url'),
          )
        )
          return;
        expect(sealed.open('server-1', forged)).toBeUndefined();
      }),
    );
  });
});
