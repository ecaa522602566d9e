import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { createRpcClient, type RpcHandlers, type RpcServer, serveRpc } from '@sluice/rpc';
import { afterEach, describe, expect, it } from 'vitest';
import type { WholeBundle } from '../compiled/compiled-bundle.ts';
import { type ConfigSource, createConfigSource } from './config-source.ts';

type GetBundle = RpcHandlers<typeof config.ConfigService>['getBundle'];
const token = 'token';
let server: RpcServer;
let source: ConfigSource;
afterEach(async () => {
  source.close();
  await server.close(0);
});

async function sourceOf(getBundle: GetBundle, timeoutMs = 2000): Promise<ConfigSource> {
  server = await serveRpc({ host: '127.0.0.1', port: 0, token });
  server.add(config.ConfigService, {
    resolveKey: async () => ({}),
    getBundle,
    getOrganisation: async () => ({}),
    reportRefusedTokens: async () => ({}),
    async *watch() {},
    async *getSections() {},
    async *follow() {},
  });
  const address = `127.0.0.1:${server.port}`;
  source = createConfigSource(
    createRpcClient(config.ConfigService, { address, token }),
    'replica',
    timeoutMs,
  );
  return source;
}

const slugs = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `pc-${from + index}`);
const configs = (from: number, count: number) =>
  slugs(from, count).map((slug) =>
    toBinary(config.ConfigSchema, create(config.ConfigSchema, { slug })),
  );

describe('getBundle', () => {
  it('puts the pieces of a bundle together in their order', async () => {
    const asked: unknown[] = [];
    await sourceOf(async function* ({ workspaceId, knownHash }) {
      asked.push([workspaceId, knownHash]);
      yield {};
      yield { bundle: { workspaceId, hash: 'h', defaultConfigSlug: 'pc-1' } };
      for (let from = 0; from < 100; from += 10) yield { configs: configs(from, 10) };
    });
    const bundle = (await source.getBundle('ws', 'known')) as WholeBundle;
    expect(asked).toEqual([['ws', 'known']]);
    expect(bundle.source).toMatchObject({
      workspaceId: 'ws',
      hash: 'h',
      defaultConfigSlug: 'pc-1',
    });
    const found = [...bundle.configs.encoded()].map(
      (each) => fromBinary(config.ConfigSchema, each).slug,
    );
    expect(found).toEqual(slugs(0, 100));
  });

  it.each([
    ['unchanged', { unchanged: true }],
    ['gone', { gone: true }],
  ])('says %s', async (answer, message) => {
    await sourceOf(async function* () {
      yield {};
      yield message;
    });
    expect(await source.getBundle('ws', 'h')).toBe(answer);
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
    await sourceOf(handler);
    await expect(source.getBundle('ws', '')).rejects.toThrow();
  });

  it('waits for as long as there are signs of life, and no longer', async () => {
    const { promise: never } = Promise.withResolvers<void>();
    await sourceOf(async function* ({ workspaceId }) {
      yield { bundle: { workspaceId } };
      await never;
    }, 200);
    await expect(source.getBundle('ws', '')).rejects.toThrow();
  });
});
