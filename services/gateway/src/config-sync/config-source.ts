import { config } from '@sluice/proto-stubs';
import type { RpcClient } from '@sluice/rpc';

/** The control plane as the gateway sees it. Each call has a deadline; failures reject. */
export interface ConfigSource {
  resolveKey(hash: Buffer): Promise<config.Key | undefined>;
  /** `unchanged` when the known hash is still current, `gone` when the workspace is. */
  getBundle(workspaceId: string, knownHash: string): Promise<config.Bundle | 'unchanged' | 'gone'>;
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
      const answer = await client.unary(
        methods.getBundle,
        { workspaceId, knownHash },
        { timeoutMs },
      );
      return answer.gone ? 'gone' : (answer.bundle ?? 'unchanged');
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
