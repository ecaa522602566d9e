import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { IdentityToken } from '@sluice/jwt';
import type { config } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import type { DatabaseClient } from '../kernel/database/client.ts';
import { Turns } from '../kernel/database/turns.ts';
import { isUuid } from '../kernel/names/ids.ts';
import type { Ledger } from '../ledger/analytics/ledger.ts';
import { sumCounters } from '../ledger/analytics/sum-counters.ts';
import { recordRefusedTokens } from '../ledger/audit-logs/refused-tokens.ts';
import { type ReportParts, reportCounters } from '../limits/reports/report-counters.ts';
import { findAuthSettings } from '../people/auth-settings/store.ts';
import { rehashSecret } from '../people/authentication/store.ts';
import { reportDefinitions } from '../tools/mcp-integrations/pins/report-definitions.ts';
import { answerToken } from '../tools/upstream-oauth/answer-token.ts';
import type { IntegrationTokens } from '../tools/upstream-oauth/integration-tokens.ts';
import type { UserConnections } from '../tools/upstream-oauth/user-connections.ts';
import type { Barriers } from './barriers.ts';
import { Batches } from './batches.ts';
import type { ChangeFeed } from './change-feed.ts';
import { KeyChanges } from './key-changes.ts';
import { keyOf } from './key-of.ts';
import { findKeyRow, hashesOf, type KeyRow, keyRowsByHash, readKeyRows } from './key-rows.ts';
import { KnownRevisions } from './known-revisions.ts';
import { LiveGateways } from './live-gateways.ts';
import type { ObserveQuestion } from './metrics.ts';
import { getOrganisation } from './organisation.ts';
import { Pace } from './pace.ts';
import { currentRevisions, type Revision } from './read-change.ts';
import { SharedChanges } from './shared-changes.ts';
import { streamBundle } from './stream-bundle.ts';
import { streamSections } from './stream-sections.ts';
import { followChanges, watchChanges } from './watch.ts';

const heartbeatMs = 5_000;
/** In one question. */
const hashesMax = 500;
/** Beside the one in use. */
const peppersMax = 8;
/** Between two gateways that begin to compare what they hold: 200 of them take three seconds. */
const beginEveryMs = 15;

export interface ConfigServiceParts {
  client: DatabaseClient;
  vault: CredentialVault;
  /** Of the pepper in use. */
  pepperName: string;
  /** Of all peppers that keys are found by. */
  pepperNames: readonly string[];
  feed: ChangeFeed;
  barriers: Barriers;
  /** Questions that read from the database at once. */
  readsMax: number;
  now: () => Date;
  counters: ReportParts;
  tokens: IntegrationTokens;
  connections: UserConnections;
  ledger: Pick<Ledger, 'sumCounters'>;
  /** Who calls, for one server, by the keys of the authorisation server. */
  signIdentity: (claimsJson: string, audience: string) => Promise<IdentityToken>;
  /** Of people whom an MCP server's own authorisation server knows. */
  issuerLogins: {
    servers: Answer<typeof config.ConfigService.method.findIssuerServers>;
    enter: Answer<typeof config.ConfigService.method.enterByIssuer>;
  };
  /** Told of every question, by its method. */
  observe: ObserveQuestion;
  /** Ends every stream when the service drains: they would never end by themselves. */
  draining: AbortSignal;
}

type Answer<M extends { input: DescMessage; output: DescMessage }> = (
  request: MessageShape<M['input']>,
) => Promise<MessageInitShape<M['output']>>;

/** What gateways ask: one key, one workspace's bundle, one organisation, and what has changed. */
export function configServiceHandlers(
  parts: ConfigServiceParts,
): RpcHandlers<typeof config.ConfigService> {
  const shared = new SharedChanges();
  const { client: db, feed } = parts;
  // Beside the two of the batches.
  const turns = new Turns(Math.max(1, parts.readsMax - 2));
  // Gateways that wait for theirs say the sum of what they had to say.
  const reporting = new Turns(1);
  // The same from all gateways: the first writes it, and the others find it written.
  const defining = new Turns(1);
  // Each may wait until gateways have heard of it.
  const entering = new Turns(4);
  // A signature is a millisecond of a thread.
  const signing = new Turns(2);
  const current = new Batches<Revision>({
    read: (ids) => currentRevisions(db, ids),
    keysMax: 1_000,
    readingsMax: 1,
  });
  const keys = new Batches<KeyRow>({
    read: (hashes) => keyRowsByHash(db, hashes),
    keysMax: 500,
    readingsMax: 1,
  });
  const following = {
    ...parts,
    pace: new Pace(beginEveryMs),
    revisions: new KnownRevisions({ current, feed }),
    keyChanges: new KeyChanges({ db, feed }),
    liveGateways: new LiveGateways({ feed, db }),
  };

  /** Found by the hash under any pepper that the gateway knows, it is kept by the one that is in use here. */
  async function findHashed({
    pepper,
    keyHash,
    otherHashes,
  }: config.ResolveKeyRequest): Promise<KeyRow | undefined> {
    const hashes = [{ pepper, keyHash }, ...otherHashes.slice(0, peppersMax)];
    for (const { keyHash: asked } of hashes) {
      const row = await keys.get(Buffer.from(asked).toString('hex'));
      if (row === undefined) continue;
      const own = hashes.find((each) => each.pepper === parts.pepperName)?.keyHash;
      const [kept] = hashesOf(row);
      if (own !== undefined && kept !== undefined && kept !== Buffer.from(own).toString('hex'))
        // The key is good whether or not this can be written now.
        await rehashSecret(db, Buffer.from(kept, 'hex'), Buffer.from(own), parts.pepperName).catch(
          () => {},
        );
      return row;
    }
    return undefined;
  }

  return {
    async resolveKey(request) {
      parts.observe('resolveKey');
      const row =
        request.keyId === ''
          ? await findHashed(request)
          : isUuid(request.keyId)
            ? await findKeyRow(db, request.keyId)
            : undefined;
      return { key: row === undefined ? undefined : keyOf(row, parts.now()) };
    },
    async resolveKeys({ keyHashes }) {
      parts.observe('resolveKeys');
      const hashes = keyHashes.slice(0, hashesMax).map((each) => Buffer.from(each));
      const rows = await turns.take(() => readKeyRows(db, hashes));
      const asked = new Set(hashes.map((each) => each.toString('hex')));
      return {
        found: rows.flatMap((row) =>
          hashesOf(row)
            .filter((hash) => asked.has(hash))
            .map((hash) => ({ keyHash: Buffer.from(hash, 'hex'), key: keyOf(row, parts.now()) })),
        ),
      };
    },
    getSections(request, { signal }) {
      parts.observe('getSections');
      const until = AbortSignal.any([signal, parts.draining]);
      return streamSections({ ...parts, shared, turns, current }, request, until);
    },
    getBundle(request, { signal }) {
      parts.observe('getBundle');
      return streamBundle(parts, request, AbortSignal.any([signal, parts.draining]));
    },
    getOrganisation(request) {
      parts.observe('getOrganisation');
      return getOrganisation(parts, request);
    },
    async reportCounters(request) {
      parts.observe('reportCounters');
      await reporting.take(() => reportCounters(parts.counters, request));
      return {};
    },
    async sumCounters(request) {
      parts.observe('sumCounters');
      return { sums: await sumCounters(parts.ledger, request, parts.now()) };
    },
    async reportRefusedTokens(request) {
      parts.observe('reportRefusedTokens');
      const isKnown =
        isUuid(request.organisationId) &&
        (await findAuthSettings(parts.client, request.organisationId)) !== null;
      if (isKnown) await recordRefusedTokens(parts.client, request, parts.now());
      return {};
    },
    async reportDefinitions(request) {
      parts.observe('reportDefinitions');
      await defining.take(() => reportDefinitions({ client: db, now: parts.now() }, request));
      return {};
    },
    getUpstreamToken(request) {
      parts.observe('getUpstreamToken');
      return answerToken(parts, request);
    },
    findIssuerServers(request) {
      parts.observe('findIssuerServers');
      return turns.take(() => parts.issuerLogins.servers(request));
    },
    enterByIssuer(request) {
      parts.observe('enterByIssuer');
      return entering.take(() => parts.issuerLogins.enter(request));
    },
    signIdentity({ audience, claimsJson }) {
      parts.observe('signIdentity');
      return signing.take(async () => {
        const { token, expiresAtMs } = await parts.signIdentity(claimsJson, audience);
        return { token, expiresAtMs: BigInt(expiresAtMs) };
      });
    },
    follow(requests, { signal }) {
      parts.observe('follow');
      return followChanges(following, requests, {
        heartbeatMs,
        signal: AbortSignal.any([signal, parts.draining]),
      });
    },
    watch(_request, { signal }) {
      parts.observe('watch');
      return watchChanges(parts.feed, {
        heartbeatMs,
        signal: AbortSignal.any([signal, parts.draining]),
      });
    },
  };
}
