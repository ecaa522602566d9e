import { configCaps } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { exampleBundle } from '../../test/exchange.ts';
import type { CompiledBundle } from './compiled-bundle.ts';
import { ConfigCompiler } from './config-compiler.ts';

const compiler = (over: Partial<typeof configCaps> = {}) =>
  new ConfigCompiler({ caps: { ...configCaps, ...over }, knownChecks: new Set(['default.known']) });

/** A bundle with these documents; a version is named for its document. */
function bundleOf(documents: Record<string, unknown>, hash = 'h1'): CompiledBundle {
  return exampleBundle(
    { hash },
    Object.entries(documents).map(([slug, document]) => {
      const bodyJson = typeof document === 'string' ? document : JSON.stringify(document);
      return { id: `id-${slug}`, slug, name: slug, versionId: `${slug}: ${bodyJson}`, bodyJson };
    }),
  );
}

function saved(configs: ConfigCompiler, bundle: CompiledBundle, slug: string) {
  const found = bundle.configs.get(slug);
  if (found === undefined) throw new Error(`${slug} is not in the bundle`);
  return configs.saved(bundle, found);
}

const providers = (compiled: { targets: readonly { provider: string | undefined }[] }) =>
  compiled.targets.map((target) => target.provider);

const refusedWith = (work: () => unknown): { code?: string; field?: string; message?: string } => {
  try {
    work();
  } catch (error) {
    return error as { code: string };
  }
  return {};
};

describe('saved configs', () => {
  it('are compiled on first use, and then no more', () => {
    const configs = compiler();
    const bundle = bundleOf({ 'pc-a': { provider: '@a' } });
    expect(saved(configs, bundle, 'pc-a')).toBe(saved(configs, bundle, 'pc-a'));
  });

  it('stay compiled when something else in their workspace changes', () => {
    const configs = compiler();
    const before = saved(configs, bundleOf({ 'pc-a': { provider: '@a' } }), 'pc-a');
    const changed = bundleOf({ 'pc-a': { provider: '@a' }, 'pc-b': { provider: '@b' } }, 'h2');
    expect(saved(configs, changed, 'pc-a')).toBe(before);
  });

  it('follow a change of a config they refer to, through another one', () => {
    const configs = compiler();
    const documents = {
      'pc-a': { targets: [{ config: 'pc-b' }] },
      'pc-b': { targets: [{ config: 'pc-c' }] },
    };
    const first = bundleOf({ ...documents, 'pc-c': { provider: '@old' } }, 'h1');
    expect(providers(saved(configs, first, 'pc-a'))).toEqual(['@old']);
    const second = bundleOf({ ...documents, 'pc-c': { provider: '@new' } }, 'h2');
    expect(providers(saved(configs, second, 'pc-a'))).toEqual(['@new']);
    const third = bundleOf(documents, 'h3');
    expect(refusedWith(() => saved(configs, third, 'pc-a'))).toMatchObject({
      code: 'config.invalid',
      field: 'config.targets[0].targets[0].config',
    });
    expect(
      providers(
        saved(configs, bundleOf({ ...documents, 'pc-c': { provider: '@new' } }, 'h4'), 'pc-a'),
      ),
    ).toEqual(['@new']);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['text that is no JSON', { 'pc-a': '{' }, 'x-service-config'],
    ['a wrong type', { 'pc-a': { provider: 5 } }, 'x-service-config'],
    ['a circle', { 'pc-a': { config: 'pc-b' }, 'pc-b': { config: 'pc-a' } }, 'config.config'],
    ['itself', { 'pc-a': { targets: [{ config: 'pc-a' }] } }, 'config.targets[0].config'],
    ['nobody', { 'pc-a': { config: 'pc-none' } }, 'config.config'],
    ['another by its id', { 'pc-a': { config: 'id-pc-b' }, 'pc-b': {} }, 'config.config'],
    ['one that is broken', { 'pc-a': { config: 'pc-b' }, 'pc-b': '[' }, 'x-service-config'],
  ])(
    'that hold or refer to %s are refused each time they are asked for',
    (_name, documents, field) => {
      const configs = compiler();
      const bundle = bundleOf(documents);
      for (let time = 0; time < 2; time++)
        expect(refusedWith(() => saved(configs, bundle, 'pc-a'))).toMatchObject({
          code: 'config.invalid',
          field,
        });
    },
  );

  it('may bring in 200 others, and no more', () => {
    const configs = compiler({ rootTargetsMax: 1000 });
    const many = (count: number) => {
      const slugs = Array.from({ length: count }, (_, index) => `pc-${index}`);
      return bundleOf({
        ...Object.fromEntries(slugs.map((slug) => [slug, { provider: '@p' }])),
        'pc-all': {
          strategy: { mode: 'fallback' },
          targets: slugs.map((slug) => ({ config: slug })),
        },
      });
    };
    expect(saved(configs, many(200), 'pc-all').targets).toHaveLength(200);
    expect(refusedWith(() => saved(configs, many(201), 'pc-all'))).toMatchObject({
      code: 'config.invalid',
      message: expect.stringContaining('200'),
    });
  });

  it('keep to the caps of this gateway', () => {
    const bundle = bundleOf({
      'pc-a': { strategy: { mode: 'fallback' }, targets: [{ provider: '@a' }, { provider: '@b' }] },
    });
    expect(saved(compiler({ rootTargetsMax: 2 }), bundle, 'pc-a').targets).toHaveLength(2);
    expect(refusedWith(() => saved(compiler({ rootTargetsMax: 1 }), bundle, 'pc-a'))).toMatchObject(
      { code: 'config.invalid' },
    );
  });
});

describe('inline configs', () => {
  it('are compiled once for the same text', () => {
    const configs = compiler();
    const bundle = bundleOf({});
    expect(configs.inline(bundle, '{"provider":"@a"}')).toBe(
      configs.inline(bundle, '{"provider":"@a"}'),
    );
  });

  it('refer to configs of the workspace of the request, and of no other', () => {
    const configs = compiler();
    const text = '{"targets":[{"config":"pc-shared-name"}]}';
    const one = bundleOf({ 'pc-shared-name': { provider: '@one' } }, 'h1');
    const two = bundleOf({ 'pc-shared-name': { provider: '@two' } }, 'h2');
    const three = bundleOf({}, 'h3');
    for (let round = 0; round < 2; round++) {
      expect(providers(configs.inline(one, text))).toEqual(['@one']);
      expect(providers(configs.inline(two, text))).toEqual(['@two']);
      expect(refusedWith(() => configs.inline(three, text))).toMatchObject({
        code: 'config.invalid',
        field: 'config.targets[0].config',
      });
    }
  });

  it('above 64 KiB are compiled and not kept', () => {
    const configs = compiler();
    const bundle = bundleOf({});
    const text = JSON.stringify({ provider: '@a', override_params: { a: 'x'.repeat(70_000) } });
    expect(configs.inline(bundle, text)).not.toBe(configs.inline(bundle, text));
  });

  it.each([
    ['no JSON', '{', 'x-service-config'],
    [
      'too deep',
      `{"override_params":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`,
      'x-service-config',
    ],
    [
      'an unknown strategy',
      '{"strategy":{"mode":"best"},"targets":[{"provider":"@a"}]}',
      'config.strategy.mode',
    ],
    [
      'a negative weight',
      '{"strategy":{"mode":"loadbalance"},"targets":[{"provider":"@a","weight":-1}]}',
      'config.targets[0].weight',
    ],
    [
      'a look-ahead',
      JSON.stringify({
        strategy: {
          mode: 'conditional',
          // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
          conditions: [{ query: { 'metadata.a': { $regex: '(?=a)' } }, then: 'x' }],
          default: 'x',
        },
        targets: [{ name: 'x', provider: '@a' }],
      }),
      'config.strategy.conditions[0].query',
    ],
  ])('with %s are refused with the path', (_name, text, field) => {
    const refused = refusedWith(() => compiler().inline(bundleOf({}), text));
    expect(refused.code).toBe('config.invalid');
    expect(refused.field?.startsWith(field)).toBe(true);
  });
});
