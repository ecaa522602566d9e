import { config } from '@sluice/proto-stubs';
import { createRpcClient, type RpcClient } from '@sluice/rpc';
import { eventually } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness, token } from '../support/harness.ts';

/** A change that waits for somebody who says nothing waits five seconds; one that does not takes what the machine takes. */
const noWaitMs = 4_000;

const { follow, watch } = config.ConfigService.method;

let h: Harness;
let another: RpcClient;
const streams: { cancel(): void }[] = [];
beforeAll(async () => {
  h = await startHarness();
  const replica = await h.replica();
  another = createRpcClient(config.ConfigService, {
    address: `127.0.0.1:${replica.grpcPort}`,
    token,
  });
  // The first change of a process is slow by itself.
  await change();
});
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.cancel();
  // What has gone is waited for no more, once its end is known.
  await eventually(async () => expect((await change()).ms).toBeLessThan(noWaitMs));
});
afterAll(async () => {
  another.close();
  await h.stop();
});

/** A gateway that follows, and passes barriers after so many ms; undefined = never. */
async function following(
  rpc: RpcClient,
  passAfterMs: number | undefined,
  { saysHolding = false } = {},
) {
  const stream = rpc.duplexStream(follow);
  streams.push(stream);
  const events: string[] = [];
  /** Barriers that it has not passed. */
  const sent: bigint[] = [];
  stream.on('error', () => {});
  let afterMs = passAfterMs;
  stream.on('data', ({ event }: config.FollowResponse) => {
    events.push(event.case ?? '');
    if (event.case !== 'barrier') return;
    sent.push(event.value.number);
    if (afterMs !== undefined) setTimeout(passAll, afterMs);
  });
  const passAll = () => {
    for (const number of sent.splice(0)) stream.say({ say: { case: 'passed', value: number } });
  };
  stream.say({ say: { case: 'hello', value: { replicaId: 'test', saysHolding } } });
  await eventually(() => events.includes('ready'));
  const passAfter = (ms: number | undefined) => {
    afterMs = ms;
    passAll();
  };
  return { events, stream, passAfter };
}

/** A change, how long its answer took and what that says. */
async function change() {
  const startedAt = performance.now();
  const answer = await makeConfig().expect(200);
  return {
    ms: performance.now() - startedAt,
    inForce: answer.headers['x-service-in-force'],
    changed: answer.headers['x-service-changed'],
  };
}

function makeConfig(headers: Record<string, string> = {}) {
  return h
    .as(h.first.workspace_key)
    .post('/configs', { name: 'x', config: { provider: '@demo' } })
    .set(headers);
}

describe('the answer of a change', () => {
  it('says what it changed, and with nobody to wait for that it is in force everywhere', async () => {
    const { ms, inForce, changed } = await change();
    expect(inForce).toBe('everywhere');
    expect(changed).toMatch(new RegExp(`^workspace=${h.first.workspace_id}@\\d+$`));
    expect(ms).toBeLessThan(noWaitMs);
  });

  it.each([
    ['of the same replica', () => h.rpc],
    ['of another replica', () => another],
  ])('waits for a gateway %s', async (_name, rpc) => {
    const { events } = await following(rpc(), 300);
    const { ms, inForce } = await change();
    expect(inForce).toBe('everywhere');
    expect(ms).toBeGreaterThan(299);
    // The change was told first.
    expect(events.filter((event) => event !== 'heartbeat').slice(-2)).toEqual([
      'workspaceChanged',
      'barrier',
    ]);
  });

  it.each([
    ['of the same replica', () => h.rpc],
    ['of another replica', () => another],
  ])(
    'waits for a gateway %s that hangs, though not for ever, and only once',
    async (_name, rpc) => {
      const hanging = await following(rpc(), undefined);
      await following(rpc(), 0);
      const first = await change();
      expect(first.inForce).toBe('pending');
      expect(first.ms).toBeGreaterThan(4_900);
      const second = await change();
      expect(second.inForce).toBe('pending');
      expect(second.ms).toBeLessThan(noWaitMs);
      // It is there again, and passes what it was sent meanwhile.
      hanging.passAfter(300);
      await eventually(async () => expect((await change()).inForce).toBe('everywhere'));
    },
  );

  it.each([
    ['of the same replica', () => h.rpc],
    ['of another replica', () => another],
  ])('waits as long as a gateway %s needs that is slow', async (_name, rpc) => {
    await following(rpc(), 1_000);
    for (const again of [1, 2]) {
      const { ms, inForce } = await change();
      expect(inForce, `${again}`).toBe('everywhere');
      expect(ms).toBeGreaterThan(990);
    }
  });

  it('is given again under its idempotency-key when it is in force, and says that it is', async () => {
    const key = { 'idempotency-key': 'in-force' };
    const { events, passAfter } = await following(another, undefined);
    const first = makeConfig(key).then((answer) => answer);
    await eventually(() => events.includes('barrier'));
    const meanwhile = await makeConfig(key);
    expect([meanwhile.status, meanwhile.body.data.code]).toEqual([
      409,
      'admin.idempotency_in_flight',
    ]);
    passAfter(0);
    const answer = await first;
    const again = await makeConfig(key);
    expect(again.headers['idempotent-replayed']).toBe('true');
    for (const name of ['x-service-in-force', 'x-service-changed'])
      expect(again.headers[name], name).toBe(answer.headers[name]);
    expect(again.headers['x-service-in-force']).toBe('everywhere');
    expect(again.body).toEqual(answer.body);
  });

  it('is kept while gateways are waited for, should the process end meanwhile', async () => {
    const key = { 'idempotency-key': 'waits' };
    const { events, passAfter } = await following(another, undefined);
    const first = makeConfig(key).then((answer) => answer);
    await eventually(() => events.includes('barrier'));
    // Nobody waits so long.
    h.clock.offsetMs = 11_000;
    const again = await makeConfig(key);
    h.clock.offsetMs = 0;
    expect([again.status, again.headers['x-service-in-force']]).toEqual([200, 'pending']);
    passAfter(0);
    const answer = await first;
    expect(again.body).toEqual(answer.body);
    expect(again.headers['x-service-changed']).toBe(answer.headers['x-service-changed']);
  });

  it('hardly waits for a gateway that has not yet fetched what changed while it was away', async () => {
    const { events, stream, passAfter } = await following(another, undefined, {
      saysHolding: true,
    });
    const held = [{ id: h.first.workspace_id, revision: 0n, stamp: 'of another day' }];
    stream.say({ say: { case: 'holding', value: { number: 1n, held, keysMark: '' } } });
    await eventually(() => events.includes('compared'));
    // What it was told before it is sent with a barrier of its own.
    await eventually(() => expect(events.at(-1)).toBe('barrier'));
    const { ms, inForce } = await change();
    expect(inForce).toBe('pending');
    expect(ms).toBeLessThan(noWaitMs);
    passAfter(300);
    await eventually(async () => expect((await change()).inForce).toBe('everywhere'));
  });

  it('hardly waits for a gateway that is still saying what it holds', async () => {
    const { events, stream, passAfter } = await following(another, 0, { saysHolding: true });
    const held = [{ id: h.first.workspace_id, revision: 0n, stamp: 'of another day' }];
    stream.say({ say: { case: 'holding', value: { number: 1n, held } } });
    await eventually(() => events.includes('compared'));
    // What it passes meanwhile does not mean that it has kept up.
    expect((await change()).inForce).toBe('pending');
    passAfter(undefined);
    const { ms, inForce } = await change();
    expect(inForce).toBe('pending');
    expect(ms).toBeLessThan(noWaitMs);
  });

  it('is not that it is in force while a gateway has not said what it holds', async () => {
    const { events, stream } = await following(another, 0, { saysHolding: true });
    expect((await change()).inForce).toBe('pending');
    const held = [{ id: h.first.workspace_id, revision: 0n, stamp: 'of another day' }];
    stream.say({ say: { case: 'holding', value: { number: 1n, held } } });
    await eventually(() => events.includes('compared'));
    expect((await change()).inForce).toBe('pending');
    stream.say({ say: { case: 'holding', value: { number: 2n, held: [], keysMark: '' } } });
    await eventually(() => events.filter((event) => event === 'compared').length === 2);
    expect((await change()).inForce).toBe('everywhere');
  });

  it('waits for nobody who has gone meanwhile', async () => {
    const { stream } = await following(another, undefined);
    setTimeout(() => stream.cancel(), 200);
    const { ms, inForce } = await change();
    expect(inForce).toBe('everywhere');
    expect(ms).toBeLessThan(noWaitMs);
  });

  it('does not wait for gateways of the release before, which say nothing', async () => {
    const stream = h.rpc.serverStream(watch, { replicaId: 'before' });
    streams.push(stream);
    const events: string[] = [];
    stream.on('error', () => {});
    stream.on('data', ({ event }: config.WatchResponse) => events.push(event.case ?? ''));
    await eventually(() => events.includes('ready'));
    const { ms, inForce } = await change();
    expect(inForce).toBe('everywhere');
    expect(ms).toBeLessThan(noWaitMs);
    await eventually(() => events.includes('workspaceChanged'));
    expect(events).not.toContain('barrier');
  });

  it('of something that gateways do not hold, and of what changed nothing, says nothing', async () => {
    const label = await h.as(h.first.workspace_key).post('/labels', { name: 'silent' });
    expect(label.headers['x-service-in-force']).toBeUndefined();
    const refused = await h.as(h.first.workspace_key).put('/configs/pc-none', { name: 'x' });
    expect(refused.headers['x-service-changed']).toBeUndefined();
  });
});
