import type { config } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import type { CredentialVault } from '../credentials/envelope.ts';
import type { DatabaseClient } from '../database/client.ts';
import { openCredentials } from '../integrations/credentials.ts';
import { buildBundle } from './build-bundle.ts';
import { readBundleRows } from './bundle-rows.ts';
import type { ChangeFeed } from './change-feed.ts';
import { resolveKey } from './resolve-key.ts';
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
    async getBundle(request) {
      const rows = await readBundleRows(parts.client, request.workspaceId);
      if (rows === undefined) return { gone: true };
      const bundle = buildBundle(rows, (integration) => openCredentials(parts.vault, integration));
      return bundle.hash === request.knownHash ? {} : { bundle };
    },
    watch(_request, { signal }) {
      return watchChanges(parts.feed, {
        heartbeatMs,
        signal: AbortSignal.any([signal, parts.draining]),
      });
    },
  };
}
