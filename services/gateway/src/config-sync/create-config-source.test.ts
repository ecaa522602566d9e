import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { createRpcClient, type RpcHandlers, type RpcServer, serveRpc } from '@sluice/rpc';
import { afterEach, describe, expect, it } from 'vitest';
import type { ConfigSource } from '../held/config-source.ts';
import { type BundleUpdate, type HeldBundle, updated } from '../held/held-bundle.ts';
import { createConfigSource } from './create-config-source.ts';

type Handlers = RpcHandlers<typeof config.ConfigService>;
type GetBundle = Handlers['getBundle'];
type GetSections = Handlers['getSections'];
const token = 'token';
let server: RpcServer;
let source: ConfigSource;
afterEach(async () => {
  source.close();
  await server.close(0);
});

/** As the control plane of the release before has it. */
const serviceBefore: typeof config.ConfigService = {
  ...config.ConfigService,
  methods: config.ConfigService.methods.filter(
    ({ localName }) => !['getSections', 'follow', 'resolveKeys'].includes(localName),
  ),
};

async function sourceOf(
  service: typeof config.ConfigService,
  handlers: Partial<Handlers>,
  timeoutMs = 2000,
): Promise<ConfigSource> {
  server = await serveRpc({ host: '127.0.0.1', port: 0, token });
  server.add(service, {
    resolveKey: async () => ({}),
    resolveKeys: async () => ({}),
    async *getBundle() {},
    async *getSections() {},
    getOrganisation: async () => ({}),
    reportRefusedTokens: async () => ({}),
    reportDefinitions: async () => ({}),
    getUpstreamToken: async () => ({}),
    findIssuerServers: async () => ({}),
    enterByIssuer: async () => ({}),
    signIdentity: async () => ({}),
    reportCounters: async () => ({}),
    sumCounters: async () => ({}),
    async *watch() {},
    async *follow() {},
    ...handlers,
  });
  const address = `127.0.0.1:${server.port}`;
  source = createConfigSource(
    createRpcClient(config.ConfigService, { address, token }),
    'replica',
    timeoutMs,
  );
  return source;
}

/** Asks, and puts what came to what was held. */
async function hold(held?: HeldBundle): Promise<HeldBundle> {
  const answer = await source.getBundle('ws', held);
  return updated(held, answer as BundleUpdate);
}

const slugs = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `pc-${from + index}`);
const configs = (from: number, count: number) =>
  slugs(from, count).map((slug) =>
    toBinary(config.ConfigSchema, create(config.ConfigSchema, { id: `id of ${slug}`, slug })),
  );
const slugsIn = (bundle: HeldBundle) =>
  [...bundle.configs.encoded()].map((each) => fromBinary(config.ConfigSchema, each).slug);
const { promise: never } = Promise.withResolvers<void>();

describe('getBundle', () => {
  const end = (number: number) =>
    ({
      part: {
        case: 'end',
        value: {
          revision: BigInt(number),
          stamp: `stamp ${number}`,
          coreHash: 'of the core',
          hash: `h${number}`,
          formats: { configs: 1, tomorrows: 4 },
        },
      },
    }) as const;
  const piece = (value: object) => ({ part: { case: 'piece', value } }) as const;

  it('takes all of a bundle, and then what is different', async () => {
    const asked: config.GetSectionsRequest[] = [];
    await sourceOf(config.ConfigService, {
      async *getSections(request) {
        asked.push(request);
        yield {};
        if (asked.length === 1) {
          yield { part: { case: 'core', value: { workspaceId: 'ws', workspaceName: 'W' } } };
          yield piece({ section: 'configs', startsOver: true });
          yield piece({ section: 'configs', upserts: configs(0, 60) });
          yield piece({ section: 'configs', upserts: configs(60, 40) });
          yield piece({ section: 'tomorrows', upserts: [Buffer.from('?')], gone: ['x'] });
        } else yield piece({ section: 'configs', upserts: configs(100, 1), gone: ['id of pc-7'] });
        yield end(asked.length);
      },
    });
    const first = await hold();
    expect(first.source).toMatchObject({ workspaceName: 'W', revision: 1n, hash: 'h1' });
    expect(slugsIn(first)).toEqual(slugs(0, 100));
    const second = await hold(first);
    expect(asked[1]).toMatchObject({
      workspaceId: 'ws',
      knownRevision: 1n,
      knownStamp: 'stamp 1',
      knownCoreHash: 'of the core',
      // What this release does not know it does not hold.
      knownFormats: { configs: 1 },
    });
    expect(second.source).toMatchObject({ workspaceName: 'W', revision: 2n, hash: 'h2' });
    expect(slugsIn(second)).toEqual(slugs(0, 101).filter((slug) => slug !== 'pc-7'));
    // Whoever began with the state before still has it.
    expect(slugsIn(first)).toEqual(slugs(0, 100));
  });

  it.each(['unchanged', 'gone'] as const)('says %s', async (answer) => {
    await sourceOf(config.ConfigService, {
      async *getSections() {
        yield {};
        yield { part: { case: answer, value: {} } };
      },
    });
    expect(await source.getBundle('ws', undefined)).toBe(answer);
  });

  it.each<[string, GetSections]>([
    [
      'is cut off',
      async function* () {
        yield piece({ section: 'configs', upserts: configs(0, 10) });
        throw new Error('the database went away');
      },
    ],
    [
      'ends early',
      async function* () {
        yield piece({ section: 'configs', upserts: configs(0, 10) });
      },
    ],
  ])('an answer that %s is a failure, never half a change', async (_name, getSections) => {
    await sourceOf(config.ConfigService, { getSections });
    await expect(source.getBundle('ws', undefined)).rejects.toThrow();
  });

  it('waits for as long as there are signs of life, and no longer', async () => {
    const getSections: GetSections = async function* () {
      yield {};
      await never;
    };
    await sourceOf(config.ConfigService, { getSections }, 200);
    await expect(source.getBundle('ws', undefined)).rejects.toThrow();
  });
});

describe('resolveKeys', () => {
  const hashes = ['01', '02', '03'].map((hex) => Buffer.from(hex.repeat(32), 'hex'));
  const keyOf = (hash: Uint8Array) => ({ id: `id of ${Buffer.from(hash).toString('hex', 0, 1)}` });
  const found = (answer: ReadonlyMap<string, config.Key>) =>
    [...answer].map(([hashHex, { id }]) => [hashHex.slice(0, 2), id]);
  const expected = [
    ['01', 'id of 01'],
    ['03', 'id of 03'],
  ];

  it('gives those that there are', async () => {
    let asked = 0;
    await sourceOf(config.ConfigService, {
      async resolveKeys({ keyHashes }) {
        asked += 1;
        return {
          found: keyHashes
            .filter((hash) => hash[0] !== 2)
            .map((keyHash) => ({ keyHash, key: keyOf(keyHash) })),
        };
      },
    });
    expect(found(await source.resolveKeys(hashes))).toEqual(expected);
    expect(asked).toBe(1);
  });

  it('asks a control plane of the release before for one after the other', async () => {
    await sourceOf(serviceBefore, {
      resolveKey: async ({ keyHash }) => (keyHash[0] === 2 ? {} : { key: keyOf(keyHash) }),
    });
    expect(found(await source.resolveKeys(hashes))).toEqual(expected);
  });
});

describe('watch', () => {
  type Told = MessageInitShape<typeof config.WatchResponseSchema>;
  const ready: Told = { event: { case: 'ready', value: {} } };
  const keyChanged = (keyId: string): Told => ({ event: { case: 'keyChanged', value: { keyId } } });
  const barrier: MessageInitShape<typeof config.FollowResponseSchema> = {
    event: { case: 'barrier', value: { number: 5n } },
  };
  const events: string[] = [];
  const listen = () => {
    events.length = 0;
    return source.watch(({ case: kind }) => events.push(kind ?? ''));
  };

  it('tells of barriers, and says which are passed', async () => {
    const { promise: passed, resolve } = Promise.withResolvers<bigint>();
    await sourceOf(config.ConfigService, {
      async *follow(requests) {
        yield* [ready as typeof barrier, barrier];
        for await (const { say } of requests) if (say.case === 'passed') resolve(say.value);
      },
    });
    const watching = listen();
    await expect.poll(() => events).toEqual(['ready', 'barrier']);
    watching.passed(5n);
    expect(await passed).toBe(5n);
    watching.stop();
    await watching.ended;
  });

  it('says what is held, and tells when it has been compared', async () => {
    await sourceOf(config.ConfigService, {
      async *follow(requests) {
        yield { event: { case: 'ready', value: { compares: true } } };
        for await (const { say } of requests)
          if (say.case === 'holding')
            yield {
              event: {
                case: 'compared',
                value: { number: say.value.number, keys: { mark: `after ${say.value.keysMark}` } },
              },
            };
      },
    });
    const told: unknown[] = [];
    const watching = source.watch((event) => told.push(event.value));
    await expect.poll(() => told).toMatchObject([{ compares: true }]);
    watching.holds({ number: 3n, held: [{ id: 'ws' }], keysMark: 'mark' });
    await expect.poll(() => told[1]).toMatchObject({ number: 3n, keys: { mark: 'after mark' } });
    watching.stop();
    await watching.ended;
  });

  it('of a control plane of the release before tells what it tells', async () => {
    await sourceOf(serviceBefore, {
      async *watch({ replicaId }) {
        yield ready;
        yield keyChanged(replicaId);
        await never;
      },
    });
    const watching = listen();
    await expect.poll(() => events).toEqual(['ready', 'keyChanged']);
    watching.stop();
    await watching.ended;
  });

  it.each([
    ['ends', config.ConfigService],
    ['ends', serviceBefore],
  ] as const)('%s with its control plane', async (_name, service) => {
    await sourceOf(service, {});
    await listen().ended;
    await server.close(0);
    const unreachable = listen();
    unreachable.stop();
    await unreachable.ended;
  });
});

describe('getBundle of a control plane of the release before', () => {
  const sourceBefore = (getBundle: GetBundle, timeoutMs?: number) =>
    sourceOf(serviceBefore, { getBundle }, timeoutMs);

  it('puts the pieces of a bundle together in their order', async () => {
    const asked: unknown[] = [];
    await sourceBefore(async function* ({ workspaceId, knownHash }) {
      asked.push([workspaceId, knownHash]);
      yield {};
      yield { bundle: { workspaceId, hash: 'h', revision: 3n, defaultConfigSlug: 'pc-1' } };
      for (let from = 0; from < 100; from += 10) yield { configs: configs(from, 10) };
    });
    const bundle = await hold();
    expect(bundle.source).toMatchObject({
      workspaceId: 'ws',
      hash: 'h',
      revision: 3n,
      defaultConfigSlug: 'pc-1',
    });
    expect(slugsIn(bundle)).toEqual(slugs(0, 100));
    expect(slugsIn(await hold(bundle))).toEqual(slugs(0, 100));
    expect(asked).toEqual([
      ['ws', ''],
      ['ws', 'h'],
    ]);
  });

  it.each([
    ['unchanged', { unchanged: true }],
    ['gone', { gone: true }],
  ])('says %s', async (answer, message) => {
    await sourceBefore(async function* () {
      yield {};
      yield message;
    });
    expect(await source.getBundle('ws', undefined)).toBe(answer);
  });

  it.each<[string, GetBundle]>([
    [
      'is cut off',
      async function* () {
        yield { bundle: { workspaceId: 'ws' } };
        yield { configs: configs(0, 10) };
        throw new Error('the database went away');
      },
    ],
    ['holds nothing', async function* () {}],
  ])('an answer that %s is a failure, never half a bundle', async (_name, handler) => {
    await sourceBefore(handler);
    await expect(source.getBundle('ws', undefined)).rejects.toThrow();
  });

  it('waits for as long as there are signs of life, and no longer', async () => {
    await sourceBefore(async function* ({ workspaceId }) {
      yield { bundle: { workspaceId } };
      await never;
    }, 200);
    await expect(source.getBundle('ws', undefined)).rejects.toThrow();
  });
});
