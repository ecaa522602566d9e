import { fromBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { describe, expect, it } from 'vitest';
import { buildBundle, decimal } from './build-bundle.ts';
import type { BundleRows } from './bundle-rows.ts';
import { bundleConfigs } from './sections/configs.ts';

const credentials = { key: 'k', configurations: { b: 1, a: 2 } };
const open = { credentials: () => credentials, modelSettings: () => ({}) };

function rows(order: 'forward' | 'backward'): BundleRows {
  const list = <T>(...items: T[]) => (order === 'forward' ? items : items.reverse());
  const integration = {
    slug: 'i',
    aiProviderId: 'openai',
    status: 'active',
    workspaceId: 'w',
    allowAllModels: true,
    grants: [],
    pricingAdjustments: { multiplier: { default: 1.5, image: { default: 2 } } },
    models: list(
      model('m1', {
        type: 'static',
        pay_as_you_go: Object.fromEntries(
          list(['request_token', { price: 1 }], ['reasoning_token', { price: 2 }]),
        ),
      }),
      model('m2', null),
    ),
  };
  const provider = (slug: string) => ({
    slug,
    name: slug,
    status: 'active',
    expiresAt: null,
    rateLimits: [],
    usageLimits: null,
    integration,
  });
  return {
    workspace: {
      id: 'w',
      organisationId: 'o',
      slug: 'ws',
      name: 'W',
      revision: order === 'forward' ? 1n : 2n,
      rateLimits: [],
      usageLimits: [],
      metadata: Object.fromEntries(list(['a', '1'], ['b', '2'])),
      settings: {},
      inputGuardrails: [],
      outputGuardrails: [],
      skipsInputGuardrails: false,
      skipsOutputGuardrails: false,
      organisation: {
        blockInlineConfig: false,
        settings: {},
        inputGuardrails: [],
        outputGuardrails: [],
      },
    },
    defaultConfigSlug: 'pc-2',
    configs,
    prompts,
    partials,
    guardrails,
    providers: list(provider('p1'), provider('p2')),
    policies: [],
    usagePolicies: [],
  } as unknown as BundleRows;
}

/** In the order of their slugs, as they are read. */
const configs = ['1', '2'].map((id) => ({
  id,
  slug: `pc-${id}`,
  name: id,
  version: 1,
}));

const prompts = [
  {
    id: 'p',
    slug: 'pp-1',
    publishedVersion: 1,
    latestVersion: 2,
    latestVirtualKey: 'openai',
    labels: { production: 1 },
  },
];
const guardrails = [{ id: 'g', slug: 'pg-1', version: 1 }];
const partials = [{ id: 'l', slug: 'pl-1', publishedVersion: 1, latestVersion: 1 }];

const model = (slug: string, pricingConfig: object | null) => ({
  slug,
  enabled: true,
  isCustom: false,
  configurations: {},
  pricingConfig,
  baseModelSlug: slug === 'm2' ? 'm1' : null,
});

describe('buildBundle', () => {
  it('gives the same hash whatever the order of rows, and whatever the revision', () => {
    const [one, two] = [buildBundle(rows('forward'), open), buildBundle(rows('backward'), open)];
    expect(two.hash).toBe(one.hash);
    expect([one.revision, two.revision]).toEqual([1n, 2n]);
  });

  it('tells gateways every price of a model, what it was made of, and what prices are multiplied by', () => {
    const [provider] = buildBundle(rows('forward'), open).providers;
    expect(provider?.priceMultipliers).toEqual({ default: 1.5, 'image.default': 2 });
    expect(provider?.models).toMatchObject([
      {
        pricesJson:
          '{"pay_as_you_go":{"reasoning_token":{"price":2},"request_token":{"price":1}},"type":"static"}',
        requestTokenPrice: '1',
        baseModelSlug: '',
      },
      { pricesJson: '', baseModelSlug: 'm1' },
    ]);
  });

  it('names the default config of the workspace', () => {
    expect(buildBundle(rows('forward'), open).defaultConfigSlug).toBe('pc-2');
    const none = { ...rows('forward'), defaultConfigSlug: '' };
    expect(buildBundle(none, open).defaultConfigSlug).toBe('');
  });

  it.each(['id', 'slug', 'name', 'version'] as const)(
    'gives another hash when the %s of a config changes',
    (field) => {
      const before = buildBundle(rows('forward'), open);
      const changed = configs.map((row, index) =>
        index === 0 ? { ...row, [field]: field === 'version' ? 2 : 'new' } : row,
      );
      const after = buildBundle({ ...rows('forward'), configs: changed }, open);
      expect(after.hash).not.toBe(before.hash);
    },
  );

  it.each([
    ['prompts', { publishedVersion: 2 }],
    ['prompts', { latestVersion: 3 }],
    ['prompts', { latestVirtualKey: 'anthropic' }],
    ['prompts', { labels: { production: 2 } }],
    ['partials', { publishedVersion: 2 }],
    ['partials', { slug: 'pl-2' }],
    ['guardrails', { version: 2 }],
  ] as const)('gives another hash when of %s this is different: %j', (kind, change) => {
    const before = rows('forward');
    const changed = { ...before, [kind]: before[kind].map((row) => ({ ...row, ...change })) };
    const hashes = [before, changed].map((each) => buildBundle(each, open).hash);
    expect(new Set(hashes).size).toBe(2);
    expect(buildBundle(rows('forward'), open).hash).toBe(hashes[0]);
  });

  it('gives another hash when a credential changes', () => {
    const before = buildBundle(rows('forward'), open);
    expect(
      buildBundle(rows('forward'), {
        ...open,
        credentials: () => ({ ...credentials, key: 'other' }),
      }).hash,
    ).not.toBe(before.hash);
  });
});

describe('bundleConfigs', () => {
  const body = (configId: string) => ({
    configId,
    versionId: `v${configId}`,
    body: '{}',
    sealedBody: null,
  });

  it('keeps the order of the rows, and leaves out what was deleted meanwhile', () => {
    const slugs = (bodies: Parameters<typeof bundleConfigs>[1]) =>
      bundleConfigs(configs, bodies, (each) => each.body).map(
        ({ bytes }) => fromBinary(config.ConfigSchema, bytes).slug,
      );
    expect(slugs([body('2'), body('1')])).toEqual(['pc-1', 'pc-2']);
    expect(slugs([body('2')])).toEqual(['pc-2']);
  });
});

describe('decimal', () => {
  it.each([
    [undefined, ''],
    [0, '0'],
    [0.00025, '0.00025'],
    [2.5e-7, '0.00000025'],
    [1e-9, '0.000000001'],
    [12, '12'],
  ])('writes %s as %j', (value, text) => {
    expect(decimal(value)).toBe(text);
  });
});
