import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { baseUrlOf, modelPath, modelSegment, optionalSetting, pathOf } from './address.ts';
import type { CallFacts } from './call-facts.ts';
import { findProvider } from './catalog.ts';
import type { ProviderEntry, Template } from './contract.ts';

function factsWith(settings: Record<string, string>): CallFacts {
  return { model: 'm', stream: false, setting: (name) => settings[name] };
}

function providerAt(baseUrl: Template): ProviderEntry {
  return { ...findProvider('openai')!, baseUrl };
}

describe('baseUrlOf', () => {
  const regional = providerAt('https://{region}.example.com/{account}/v1');

  it('fills in settings', () => {
    const facts = factsWith({ region: 'eu-1', account: 'a_b.c' });
    expect(baseUrlOf(regional, undefined, facts)).toBe('https://eu-1.example.com/a_b.c/v1');
  });

  it('asks a function, and prefers an endpoint’s own address', () => {
    const facts = factsWith({ region: 'eu-1' });
    const made = providerAt(({ setting }) => `https://${setting('region')}.example.com`);
    expect(baseUrlOf(made, undefined, facts)).toBe('https://eu-1.example.com');
    const entry = { format: 'raw', path: '/x', baseUrl: 'https://other.example.com' } as const;
    expect(baseUrlOf(made, entry, facts)).toBe('https://other.example.com');
  });

  it('names the setting that is missing, a custom host where there is no address', () => {
    expect(() => baseUrlOf(regional, undefined, factsWith({ region: 'eu-1' }))).toThrow(
      expect.objectContaining({ code: 'provider.setting_missing', field: 'x-service-account' }),
    );
    expect(() => baseUrlOf(providerAt(''), undefined, factsWith({}))).toThrow(
      expect.objectContaining({ code: 'provider.setting_missing', field: 'x-service-custom-host' }),
    );
  });

  it.each([
    'a/b',
    'a\\b',
    'a?b',
    'a#b',
    'a@b',
    'a:b',
    'a%2fb',
    'a b',
    'a\nb',
    'a\n',
    '..',
    'a..b',
    '.a',
    'a.',
    '-a',
    'a-',
    'ä',
    'a\u0000',
    'x'.repeat(300),
  ])('refuses the setting %j', (region) => {
    expect(() => baseUrlOf(regional, undefined, factsWith({ region, account: 'a' }))).toThrow(
      expect.objectContaining({ code: 'provider.setting_invalid', field: 'x-service-region' }),
    );
  });

  it('never lets a setting change host or path beyond its place', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (region, account) => {
        let url: URL;
        try {
          url = new URL(baseUrlOf(regional, undefined, factsWith({ region, account })));
        } catch {
          // Refused, which is as good.
          return;
        }
        expect(url.host).toBe(`${region.toLowerCase()}.example.com`);
        expect(url.pathname).toBe(`/${account}/v1`);
        expect(url.username + url.search + url.hash).toBe('');
      }),
    );
  });
});

describe('pathOf', () => {
  it('fills in settings, and asks a function', () => {
    const facts = factsWith({ version: '2024-10-21' });
    expect(pathOf({ format: 'raw', path: '/chat?api-version={version}' }, facts)).toBe(
      '/chat?api-version=2024-10-21',
    );
    expect(pathOf({ format: 'raw', path: ({ model }) => `/${model}` }, facts)).toBe('/m');
  });
});

describe('optionalSetting', () => {
  it('falls back where nobody set it, and checks it where somebody did', () => {
    expect(optionalSetting(() => undefined, 'x', 'y')).toBe('y');
    expect(optionalSetting(() => 'z', 'x', 'y')).toBe('z');
    expect(() => optionalSetting(() => '../z', 'x', 'y')).toThrow(
      expect.objectContaining({ code: 'provider.setting_invalid' }),
    );
  });
});

describe('models in paths', () => {
  it('are one segment, whatever they are called', () => {
    expect(modelSegment('arn:aws:bedrock:eu:1:x/y@2')).toBe(
      'arn%3Aaws%3Abedrock%3Aeu%3A1%3Ax%2Fy%402',
    );
    expect(modelSegment('a?b#c')).toBe('a%3Fb%23c');
    expect(modelSegment('%2e%2e')).toBe('%252e%252e');
  });

  it('or several', () => {
    expect(modelPath('meta/llama 3')).toBe('meta/llama%203');
  });

  it.each(['', '.', '..', 'a\ud800'])('are refused when they are %j', (model) => {
    expect(() => modelSegment(model)).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field: 'body.model' }),
    );
  });

  it.each(['../x', 'a/../b', 'a//b', '/a', 'a/', 'a/.'])('lead nowhere else: %j', (model) => {
    expect(() => modelPath(model)).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field: 'body.model' }),
    );
  });

  it('stay below the path they were put in', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (model) => {
        let path: string;
        try {
          path = modelPath(model);
        } catch (error) {
          expect(error).toMatchObject({ code: 'request.invalid_field' });
          return;
        }
        const url = new URL(`https://example.com/models/${path}`);
        expect(url.host + url.search + url.hash).toBe('example.com');
        expect(url.pathname.startsWith('/models/')).toBe(true);
        expect(decodeURIComponent(url.pathname)).toBe(`/models/${model}`);
      }),
    );
  });
});
