import { GatewayError } from '@sluice/errors';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { exampleBundle } from '../../test/exchange.ts';
import { lookAgain } from './look-again.ts';
import { NewerBundles, type NewerBundlesOptions } from './newer-bundles.ts';

const unavailable = { code: 'gateway.bundle_unavailable', headers: { 'retry-after': '1' } };
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
    // All of it is of one second, however long it takes.
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    for (let round = 0; round < 1_000; round += 1)
      expect(await newer.after(bundle(`ws-${round % 3}`, 'h1'))).toBeUndefined();
    expect(asked).toEqual(['ws-0', 'ws-1', 'ws-2']);
    for (let other = 3; other < 1_000; other += 1) await newer.after(bundle(`ws-${other}`, 'h1'));
    expect(asked).toHaveLength(5);
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

  it('with the control plane away knows nothing newer, but for who must be sure', async () => {
    const { asked, newer } = control({ isConnected: () => false });
    expect(await newer.after(bundle('ws', 'h1'))).toBeUndefined();
    await expect(newer.after(bundle('ws', 'h1'), true)).rejects.toMatchObject(unavailable);
    expect(asked).toEqual([]);
  });

  it.each<[string, Partial<NewerBundlesOptions>]>([
    ['failing', { fetch: () => Promise.reject(new Error('broken')) }],
    ['silent', { timeoutMs: 20, fetch: () => new Promise(() => {}) }],
  ])(
    'with the control plane %s does not know whether there is anything newer, nor until it is asked again',
    async (_name, over) => {
      let asked = 0;
      const { newer } = control({
        everyMs: 60_000,
        ...over,
        fetch: (id) => {
          asked += 1;
          return over.fetch?.(id) ?? Promise.resolve(undefined);
        },
      });
      for (const _ of [1, 2])
        await expect(newer.after(bundle('ws', 'h1'))).rejects.toMatchObject(unavailable);
      expect(asked).toBe(1);
    },
  );

  it('who must be sure is not answered by a cap', async () => {
    const { newer } = control({ hash: 'h1', perSecondMax: 1 });
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    expect(await newer.after(bundle('ws-1', 'h1'), true)).toBeUndefined();
    // It was asked a moment ago.
    expect(await newer.after(bundle('ws-1', 'h1'), true)).toBeUndefined();
    expect(await newer.after(bundle('ws-2', 'h1'))).toBeUndefined();
    await expect(newer.after(bundle('ws-2', 'h1'), true)).rejects.toMatchObject(unavailable);
  });
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

  it('a line of a batch is not refused for a name of which nobody knows whether it is there', async () => {
    const { newer } = control({ isConnected: () => false });
    const look = async (isLine: boolean) =>
      lookAgain({ ...looking(), isLine }, newer, notFound, () => 'found');
    await expect(look(true)).rejects.toMatchObject(unavailable);
    await expect(look(false)).rejects.toBe(notFound);
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
