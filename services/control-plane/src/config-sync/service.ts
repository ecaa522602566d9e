import type { config } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import type { CredentialVault } from '../credentials/envelope.ts';
import type { DatabaseClient } from '../database/client.ts';
import type { ChangeFeed } from './change-feed.ts';
import { resolveKey } from './resolve-key.ts';
import { streamBundle } from './stream-bundle.ts';
import { watchChanges } from './watch.ts';

const heartbeatMs = 5_000;

export interface ConfigServiceParts {
  client: DatabaseClient;
  vault: CredentialVault;
  feed: ChangeFeed;
  now: () => Date;
  /** Ends every stream when the service drains: they would never end by themselves. */
  draining: AbortSignal;
}

/** What gateways ask: one key, one workspace's bundle, and what has changed. */
export function configServiceHandlers(
  parts: ConfigServiceParts,
): RpcHandlers<typeof config.ConfigService> {
  return {
    async resolveKey(request) {
      return { key: await resolveKey(parts.client, Buffer.from(request.keyHash), parts.now()) };
    },
    getBundle(request, { signal }) {
      return streamBundle(parts, request, AbortSignal.any([signal, parts.draining]));
    },
    watch(_request, { signal }) {
      return watchChanges(parts.feed, {
        heartbeatMs,
        signal: AbortSignal.any([signal, parts.draining]),
      });
    },
  };
}
