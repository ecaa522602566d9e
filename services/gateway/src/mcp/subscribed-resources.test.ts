import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedStores, startSharedStores } from '../../test/shared-stores.ts';
import type { Session } from './session.ts';
import { SubscribedResources } from './subscribed-resources.ts';

const session = (name: string): Session => ({
  name,
  organisationId: 'org',
  workspaceId: 'ws',
  serverId: 'server',
  principal: 'me',
  revision: '',
  upstreamId: '',
  client: '{}',
  expiresAt: Date.now() / 1000 + 60,
  begunBy: '',
});

describe('resources that sessions are subscribed to', () => {
  let stores: SharedStores;
  const gateway = async () => {
    const store = stores.open();
    const part = store.share({ name: 'mcp', deadlineMs: 500 });
    await eventually(() => expect(part.degraded).toBe(false));
    return new SubscribedResources(part);
  };
  beforeAll(async () => {
    stores = await startSharedStores();
  });
  afterAll(() => stores.stop());

  it('are known to all gateways, and a change is told where the session has its stream', async () => {
    const [one, other] = [await gateway(), await gateway()];
    const told: string[] = [];
    const ends = ['a', 'b'].map((name) => one.watch(session(name), () => told.push(name)));
    expect(await other.add(session('a'), 'test://1')).toBe(true);
    await eventually(() => expect(told).toEqual(['a']));
    expect(await one.of(session('a'))).toEqual(['test://1']);
    expect(await one.of(session('b'))).toEqual([]);
    await Promise.all(
      [one, other].flatMap((at) => [2, 3, 4].map((n) => at.add(session('a'), `test://${n}`))),
    );
    expect(await other.of(session('a'))).toHaveLength(4);
    await other.remove(session('a'), 'test://1');
    expect(await one.of(session('a'))).not.toContain('test://1');
    for (const end of ends) end();
    told.length = 0;
    await one.add(session('a'), 'test://9');
    expect(told).toEqual([]);
  });

  it('are each gateway’s own without Redis', async () => {
    const alone = new SubscribedResources(undefined);
    let changes = 0;
    alone.watch(session('a'), () => (changes += 1));
    for (let at = 0; at < 101; at++)
      expect(await alone.add(session('a'), `test://${at}`)).toBe(at < 100);
    expect(changes).toBe(100);
    await alone.remove(session('a'), 'test://5');
    expect([(await alone.of(session('a'))).length, changes]).toEqual([99, 101]);
  });
});
