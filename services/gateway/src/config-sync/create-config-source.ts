import { setImmediate as nextTurn } from 'node:timers/promises';
import { config } from '@sluice/proto-stubs';
import { isUnimplemented, type RpcClient } from '@sluice/rpc';
import type { ConfigSource, WatchEvent, Watching } from '../held/config-source.ts';
import type { BundleUpdate, HeldBundle } from '../held/held-bundle.ts';
import { emptyTables, type SectionName, sectionNames } from '../held/sections/index.ts';
import { readSections } from './read-sections.ts';

/** It may be asked for elsewhere, and be waited for. */
const tokenTimeoutMs = 20_000;
const methods = config.ConfigService.method;

export function createConfigSource(
  client: RpcClient,
  replicaId: string,
  timeoutMs: number,
): ConfigSource {
  /** The control plane is of the release before. Found out anew with each stream: it may have been replaced. */
  let isBefore = false;
  return {
    async resolveKey(hash, hashes) {
      const request = {
        keyHash: hash,
        pepper: hashes?.pepper ?? '',
        otherHashes: [...(hashes?.others ?? [])],
      };
      return (await client.unary(methods.resolveKey, request, { timeoutMs })).key;
    },
    async keyOfId(id) {
      return (await client.unary(methods.resolveKey, { keyId: id }, { timeoutMs })).key;
    },
    async resolveKeys(hashes) {
      try {
        const request = { keyHashes: [...hashes] };
        const { found } = await client.unary(methods.resolveKeys, request, { timeoutMs });
        return new Map(
          found.flatMap(({ keyHash, key }) =>
            key ? [[Buffer.from(keyHash).toString('hex'), key]] : [],
          ),
        );
      } catch (error) {
        if (!isUnimplemented(error)) throw error;
        return oneByOne(hashes, (hash) => this.resolveKey(hash));
      }
    },
    async getBundle(workspaceId, held) {
      if (!isBefore)
        try {
          return await readSections(client, workspaceId, held, timeoutMs);
        } catch (error) {
          if (!isUnimplemented(error)) throw error;
          isBefore = true;
        }
      return readWhole(client, workspaceId, held, timeoutMs);
    },
    async getOrganisation(organisationId, knownHash) {
      const request = { organisationId, knownHash };
      const answer = await client.unary(methods.getOrganisation, request, { timeoutMs });
      return answer.unchanged ? 'unchanged' : (answer.organisation ?? 'gone');
    },
    async reportRefusedTokens({ organisationId, count, samples }) {
      const request = { organisationId, count, samples: [...samples] };
      await client.unary(methods.reportRefusedTokens, request, { timeoutMs });
    },
    async reportDefinitions(report) {
      await client.unary(methods.reportDefinitions, report, { timeoutMs });
    },
    upstreamToken: (request) =>
      client.unary(methods.getUpstreamToken, request, { timeoutMs: tokenTimeoutMs }),
    async issuerServers(address) {
      return (await client.unary(methods.findIssuerServers, address, { timeoutMs })).servers;
    },
    async enterByIssuer(request) {
      return (await client.unary(methods.enterByIssuer, request, { timeoutMs })).refused;
    },
    signIdentity: (question) => client.unary(methods.signIdentity, question, { timeoutMs }),
    watch(onEvent) {
      isBefore = false;
      return follow(client, replicaId, onEvent);
    },
    whyAway: () => client.whyUnreachable(timeoutMs),
    close: () => client.close(),
  };
}

/** Of a control plane of the release before, which takes no list. */
async function oneByOne(
  hashes: readonly Buffer[],
  resolve: ConfigSource['resolveKey'],
): Promise<ReadonlyMap<string, config.Key>> {
  const found = new Map<string, config.Key>();
  for (const hash of hashes) {
    const key = await resolve(hash);
    if (key !== undefined) found.set(hash.toString('hex'), key);
  }
  return found;
}

/** The stream with barriers, or without when the control plane has none. */
function follow(
  client: RpcClient,
  replicaId: string,
  onEvent: (event: WatchEvent) => void,
): Watching {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const following = client.duplexStream(methods.follow);
  let stop = () => following.cancel();
  let hasBarriers = true;
  const watchInstead = () => {
    hasBarriers = false;
    const watching = client.serverStream(methods.watch, { replicaId });
    stop = () => watching.cancel();
    watching.on('data', (message: config.WatchResponse) => onEvent(message.event));
    for (const end of ['error', 'end', 'close']) watching.on(end, () => resolve());
  };
  following.on('data', (message: config.FollowResponse) => onEvent(message.event));
  following.on('error', (error) => (isUnimplemented(error) ? watchInstead() : resolve()));
  // Comes after an error as well.
  for (const end of ['end', 'close']) following.on(end, () => hasBarriers && resolve());
  following.say({ say: { case: 'hello', value: { replicaId, saysHolding: true } } });
  return {
    ended,
    passed: (barrier) => following.say({ say: { case: 'passed', value: barrier } }),
    holds: (holding) => following.say({ say: { case: 'holding', value: holding } }),
    stop: () => {
      stop();
      resolve();
    },
  };
}

/** All of a workspace, from a control plane that knows no differences. */
async function readWhole(
  client: RpcClient,
  workspaceId: string,
  held: HeldBundle | undefined,
  timeoutMs: number,
): Promise<BundleUpdate | 'unchanged' | 'gone'> {
  const knownHash = held?.source.hash ?? '';
  const stream = client.serverStream(methods.getBundle, { workspaceId, knownHash });
  const silence = setTimeout(() => stream.cancel(), timeoutMs);
  let core: config.Bundle | undefined;
  const tables = emptyTables();
  try {
    for await (const piece of stream as AsyncIterable<config.GetBundleResponse>) {
      silence.refresh();
      if (piece.gone) return 'gone';
      if (piece.unchanged) return 'unchanged';
      core ??= piece.bundle;
      // Sections that are newer than this question are not among its answers.
      const tablesOf: Partial<Record<SectionName, Uint8Array[]>> = piece;
      for (const name of sectionNames)
        for (const each of tablesOf[name] ?? []) tables[name].add(each);
      // Requests get their turn between two pieces.
      await nextTurn();
    }
  } finally {
    clearTimeout(silence);
    stream.cancel();
  }
  if (core === undefined) throw new Error('the control plane sent no bundle');
  const { revision, hash } = core;
  return { core, revision, hash, known: undefined, since: '', startedOver: tables, changes: {} };
}
