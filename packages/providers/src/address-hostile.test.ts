import { describe, expect, it } from 'vitest';
import { baseUrlOf, modelPath, modelSegment, pathOf } from './address.ts';
import type { CallFacts } from './call-facts.ts';
import type { ProviderEntry, Template } from './contract.ts';

const provider = (baseUrl: Template): ProviderEntry => ({
  id: 'tenant',
  name: 'Tenant',
  baseUrl,
  auth: { type: 'bearer' },
  endpoints: {},
  settings: ['resource' as never],
  source: 'this test',
});
const facts = (resource?: string): CallFacts => ({
  model: 'm',
  stream: false,
  setting: (name) => (name === 'resource' ? resource : undefined),
});
const address = (resource?: string) =>
  baseUrlOf(provider('https://{resource}.vendor.example/v1'), undefined, facts(resource));

describe('a setting within an address', () => {
  it.each(['abc', 'my-resource', 'eu-west-1', 'a.b', 'A_b1', '7'])('may be %s', (resource) => {
    expect(new URL(address(resource)).hostname).toBe(`${resource.toLowerCase()}.vendor.example`);
  });

  it.each([
    'evil.com/',
    'evil.com#',
    'a.b#',
    'evil.com?',
    'evil.com\\',
    'evil.com:443',
    'x@169.254.169.254',
    'x:y@evil.com/',
    '../evil',
    '..',
    'a..b',
    '.evil.com',
    'evil.com.',
    '-a',
    'a-',
    '%2e%2e%2f',
    '%23',
    'a b',
    'a\tb',
    'a\r\nHost: evil',
    'a\0',
    '//evil.com',
    'http://evil.com',
    '[::1]',
    '::1',
    'evil。com',
    'ｅｖｉｌ',
    'ⓐ',
    'é',
    '{resource}',
    '$&',
    'a'.repeat(257),
  ])('may not be %j', (resource) => {
    expect(() => address(resource)).toThrow(
      expect.objectContaining({ code: 'provider.setting_invalid', field: 'x-service-resource' }),
    );
  });

  it('is asked for when it is missing', () => {
    expect(() => address()).toThrow(
      expect.objectContaining({ code: 'provider.setting_missing', field: 'x-service-resource' }),
    );
  });

  it('is checked in paths as well', () => {
    const entry = { format: 'raw', path: '/accounts/{resource}/chat' } as const;
    expect(pathOf(entry, facts('a-1'))).toBe('/accounts/a-1/chat');
    expect(() => pathOf(entry, facts('../../admin'))).toThrow(
      expect.objectContaining({ code: 'provider.setting_invalid' }),
    );
  });
});

describe('a model within a path', () => {
  it.each([
    ['gpt-4o', 'gpt-4o'],
    ['meta/llama-3', 'meta%2Fllama-3'],
    ['../../admin', '..%2F..%2Fadmin'],
    ['a?b#c', 'a%3Fb%23c'],
    ['arn:aws:bedrock:eu::model/x', 'arn%3Aaws%3Abedrock%3Aeu%3A%3Amodel%2Fx'],
    ['%2e%2e', '%252e%252e'],
    ['é 😀', '%C3%A9%20%F0%9F%98%80'],
  ])('%j is one segment', (model, segment) => {
    expect(modelSegment(model)).toBe(segment);
  });

  it('may be several segments, none of which leads upwards', () => {
    expect(modelPath('meta/llama 3')).toBe('meta/llama%203');
    for (const model of ['', '.', '..', 'a/../b', 'a//b', '/a', './a'])
      expect(() => modelPath(model), model).toThrow(
        expect.objectContaining({ code: 'request.invalid_field' }),
      );
  });
});

describe('a provider without an address', () => {
  it('asks for a custom host', () => {
    expect(() => baseUrlOf(provider(''), undefined, facts())).toThrow(
      expect.objectContaining({
        code: 'provider.setting_missing',
        field: 'x-service-custom-host',
      }),
    );
  });
});
