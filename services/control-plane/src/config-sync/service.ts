import type { config } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import type { DatabaseClient } from '../kernel/database/client.ts';
import { isUuid } from '../kernel/names/ids.ts';
import { recordRefusedTokens } from '../ledger/audit-logs/refused-tokens.ts';
import { findAuthSettings } from '../people/auth-settings/store.ts';
import type { Barriers } from './barriers.ts';
import type { ChangeFeed } from './change-feed.ts';
import { getOrganisation } from './organisation.ts';
import { resolveKey } from './resolve-key.ts';
import { SharedChanges } from './shared-changes.ts';
import { streamBundle } from './stream-bundle.ts';
import { streamSections } from './stream-sections.ts';
import { followChanges, watchChanges } from './watch.ts';

const heartbeatMs = 5_000;

export interface ConfigServiceParts {
  client: DatabaseClient;
  vault: CredentialVault;
  feed: ChangeFeed;
  barriers: Barriers;
  now: () => Date;
  /** Ends every stream when the service drains: they would never end by themselves. */
  draining: AbortSignal;
}

/** What gateways ask: one key, one workspace's bundle, one organisation, and what has changed. */
export function configServiceHandlers(
  parts: ConfigServiceParts,
): RpcHandlers<typeof config.ConfigService> {
  const shared = new SharedChanges();
  return {
    async resolveKey(request) {
      return { key: await resolveKey(parts.client, Buffer.from(request.keyHash), parts.now()) };
    },
    getSections(request, { signal }) {
      const until = AbortSignal.any([signal, parts.draining]);
      return streamSections({ ...parts, shared }, request, until);
    },
    getBundle(request, { signal }) {
      return streamBundle(parts, request, AbortSignal.any([signal, parts.draining]));
    },
    getOrganisation: (request) => getOrganisation(parts, request),
    async reportRefusedTokens(request) {
      const isKnown =
        isUuid(request.organisationId) &&
        (await findAuthSettings(parts.client, request.organisationId)) !== null;
      if (isKnown) await recordRefusedTokens(parts.client, request, parts.now());
      return {};
    },
    follow(requests, { signal }) {
      return followChanges(parts, requests, {
        heartbeatMs,
        signal: AbortSignal.any([signal, parts.draining]),
      });
    },
    watch(_request, { signal }) {
      return watchChanges(parts.feed, {
        heartbeatMs,
        signal: AbortSignal.any([signal, parts.draining]),
      });
    },
  };
}
