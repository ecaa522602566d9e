import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RefusalReport } from '@sluice/jwt';
import { config } from '@sluice/proto-stubs';
import type { RpcClient } from '@sluice/rpc';
import type { WholeBundle } from '../compiled/compiled-bundle.ts';
import { emptyTables, tableNames } from '../held/bundle-tables.ts';

/** The control plane as the gateway sees it. No call waits longer than its time-out for a sign of life; failures reject. */
export interface ConfigSource {
  resolveKey(hash: Buffer): Promise<config.Key | undefined>;
  /** `unchanged` when the known hash is still current, `gone` when the workspace is. */
  getBundle(workspaceId: string, knownHash: string): Promise<WholeBundle | 'unchanged' | 'gone'>;
  /** `unchanged` when the known hash is still current, `gone` when there is no such organisation. */
  getOrganisation(
    id: string,
    knownHash: string,
  ): Promise<config.Organisation | 'unchanged' | 'gone'>;
  reportRefusedTokens(report: RefusalReport): Promise<void>;
  /** Calls back for every event until the stream ends or `stop` is called; resolves then, and never rejects. */
  watch(onEvent: (event: config.WatchResponse['event']) => void): {
    ended: Promise<void>;
    stop(): void;
  };
  close(): void;
}

export function createConfigSource(
  client: RpcClient,
  replicaId: string,
  timeoutMs: number,
): ConfigSource {
  const methods = config.ConfigService.method;
  return {
    async resolveKey(hash) {
      return (await client.unary(methods.resolveKey, { keyHash: hash }, { timeoutMs })).key;
    },
    async getBundle(workspaceId, knownHash) {
      const stream = client.serverStream(methods.getBundle, { workspaceId, knownHash });
      const silence = setTimeout(() => stream.cancel(), timeoutMs);
      let source: config.Bundle | undefined;
      const tables = emptyTables();
      try {
        for await (const piece of stream as AsyncIterable<config.GetBundleResponse>) {
          silence.refresh();
          if (piece.gone) return 'gone';
          if (piece.unchanged) return 'unchanged';
          source ??= piece.bundle;
          for (const name of tableNames) for (const each of piece[name]) tables[name].add(each);
          // Requests get their turn between two pieces.
          await nextTurn();
        }
      } finally {
        clearTimeout(silence);
        stream.cancel();
      }
      if (source === undefined) throw new Error('the control plane sent no bundle');
      return { source, ...tables };
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
    watch(onEvent) {
      const stream = client.serverStream(methods.watch, { replicaId });
      const ended = new Promise<void>((resolve) => {
        stream.on('data', (message: config.WatchResponse) => onEvent(message.event));
        stream.on('error', () => resolve());
        stream.on('end', () => resolve());
        stream.on('close', () => resolve());
      });
      return { ended, stop: () => stream.cancel() };
    },
    close: () => client.close(),
  };
}
