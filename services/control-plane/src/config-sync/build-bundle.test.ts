import { describe, expect, it } from 'vitest';
import { buildBundle, decimal } from './build-bundle.ts';
import type { BundleRows } from './bundle-rows.ts';

const credentials = { key: 'k', configurations: { b: 1, a: 2 } };

function rows(order: 'forward' | 'backward'): BundleRows {
  const list = <T>(...items: T[]) => (order === 'forward' ? items : items.reverse());
  const config = (id: string) => ({ id, slug: `pc-${id}`, name: id });
  const integration = {
    slug: 'i',
    aiProviderId: 'openai',
    status: 'active',
    workspaceId: 'w',
    allowAllModels: true,
    grants: [],
    models: list(model('m1'), model('m2')),
  };
  const provider = (slug: string) => ({
    slug,
    name: slug,
    status: 'active',
    expiresAt: null,
    rateLimits: [],
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
      metadata: Object.fromEntries(list(['a', '1'], ['b', '2'])),
      organisation: { blockInlineConfig: false },
    },
    configs: list(config('1'), config('2')),
    versions: list(
      { configId: '1', id: 'v1', body: '{}' },
      { configId: '2', id: 'v2', body: '{}' },
    ),
    providers: list(provider('p1'), provider('p2')),
    policies: [],
  } as unknown as BundleRows;
}

const model = (slug: string) => ({
  slug,
  enabled: true,
  isCustom: false,
  configurations: {},
  pricingConfig: null,
});

describe('buildBundle', () => {
  it('gives the same hash whatever the order of rows, and whatever the revision', () => {
    const [one, two] = [
      buildBundle(rows('forward'), () => credentials),
      buildBundle(rows('backward'), () => credentials),
    ];
    expect(two.hash).toBe(one.hash);
    expect([one.revision, two.revision]).toEqual([1n, 2n]);
  });

  it('gives another hash when a credential changes', () => {
    const before = buildBundle(rows('forward'), () => credentials);
    expect(buildBundle(rows('forward'), () => ({ ...credentials, key: 'other' })).hash).not.toBe(
      before.hash,
    );
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
