import { GatewayError } from '@sluice/errors';
import { describe, expect, it } from 'vitest';
import { exampleBundle } from '../../test/exchange.ts';
import { lookAgain } from './look-again.ts';
import { NewerBundles, type NewerBundlesOptions } from './newer-bundles.ts';

const bundle = (workspaceId: string, hash: string) => exampleBundle({ workspaceId, hash });

/** A control plane that has this of each workspace, and what it was asked. */
function control(over: Partial<NewerBundlesOptions> & { hash?: string } = {}) {
  const { hash = 'h2', ...options } = over;
  const asked: string[] = [];
  const newer = new NewerBundles({
    held: () => undefined,
    fetch: async (workspaceId) => {
      asked.push(workspaceId);
      return bundle(workspaceId, hash);
    },
    isConnected: () => true,
    ...options,
  });
  return { asked, newer };
}

describe('NewerBundles', () => {
  it('asks once for however many look at the same time', async () => {
    const { asked, newer } = control();
    const found = await Promise.all(
      Array.from({ length: 100 }, () => newer.after(bundle('ws', 'h1'))),
    );
    expect(new Set(found.map((each) => each?.source.hash))).toEqual(new Set(['h2']));
    expect(asked).toEqual(['ws']);
  });

  it('asks nobody where what is held is newer already', async () => {
    const { asked, newer } = control({ held: (id) => bundle(id, 'h2') });
    expect((await newer.after(bundle('ws', 'h1')))?.source.hash).toBe('h2');
    expect(asked).toEqual([]);
  });

  it('a flood of unknown names costs no more than the caps', async () => {
    const { asked, newer } = control({ hash: 'h1', perSecondMax: 5, everyMs: 60_000 });
    for (let round = 0; round < 1_000; round += 1)
      expect(await newer.after(bundle(`ws-${round % 3}`, 'h1'))).toBeUndefined();
    expect(asked).toEqual(['ws-0', 'ws-1', 'ws-2']);
    for (let other = 3; other < 1_000; other += 1) await newer.after(bundle(`ws-${other}`, 'h1'));
    // The clock may have begun another second meanwhile.
    expect(asked.length).toBeLessThanOrEqual(10);
  });

  it('asks again about a workspace after a while', async () => {
    const { asked, newer } = control({ everyMs: 1_000 });
    await newer.after(bundle('ws', 'h2'));
    await newer.after(bundle('ws', 'h2'));
    expect(asked).toHaveLength(1);
    await expect
      .poll(async () => {
        await newer.after(bundle('ws', 'h2'));
        return asked.length;
      })
      .toBe(2);
  });

  it.each<[string, Partial<NewerBundlesOptions>]>([
    ['away', { isConnected: () => false, fetch: () => Promise.reject(new Error('not asked')) }],
    ['failing', { fetch: () => Promise.reject(new Error('broken')) }],
    ['silent', { timeoutMs: 20, fetch: () => new Promise(() => {}) }],
  ])(
    'with the control plane %s knows nothing newer, and waits no longer than it says',
    async (_name, over) => {
      const startedAt = performance.now();
      const { newer } = control(over);
      expect(await newer.after(bundle('ws', 'h1'))).toBeUndefined();
      expect(performance.now() - startedAt).toBeLessThan(900);
    },
  );
});

describe('lookAgain', () => {
  const notFound = new GatewayError('provider.not_found');
  const looking = () => ({ bundle: bundle('ws', 'h1') });

  it('looks in the newer state, which is the one that counts from then on', async () => {
    const { newer } = control();
    const place = looking();
    const found = await lookAgain(place, newer, notFound, () => place.bundle.source.hash);
    expect([found, place.bundle.source.hash]).toEqual(['h2', 'h2']);
  });

  it.each([
    ['there is no newer state', control({ hash: 'h1' }).newer, notFound],
    ['the fault is another', control().newer, new GatewayError('config.invalid')],
    ['the fault is none of ours', control().newer, new TypeError('x')],
  ])('where %s the fault stays', async (_name, newer, fault) => {
    const place = looking();
    const look = async () =>
      lookAgain(place, newer, fault, () => {
        throw new Error('looked');
      });
    await expect(look()).rejects.toBe(fault);
    expect(place.bundle.source.hash).toBe('h1');
  });
});
