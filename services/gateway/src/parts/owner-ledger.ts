import type { ObjectKind } from '@sluice/contracts';
import { usage } from '@sluice/proto-stubs';
import { createRpcClient, type RpcClientOptions } from '@sluice/rpc';
import type { Part } from '@sluice/service';
import { addCounter, type Metrics } from '@sluice/telemetry';
import { LedgerOwners, ownerLookups } from '../owners/ledger-owners.ts';
import type { OwnerLedger } from '../owners/owner-notes.ts';
import { recordStoredObject } from '../usage/record-stored-object.ts';

interface OwnerLedgerParts {
  /** How the data service is asked. */
  readonly peer: Omit<RpcClientOptions, 'address'>;
  readonly address: string;
  readonly outbox: Parameters<typeof recordStoredObject>[0];
  readonly metrics: Metrics;
}

const timeoutMs = 2_000;

/** Owners of what providers keep, as the ledger has them. */
export function ownerLedgerPart({ peer, address, outbox, metrics }: OwnerLedgerParts): {
  ownerLedger: OwnerLedger;
  part: Part;
} {
  const client = createRpcClient(usage.OwnerService, { address, ...peer });
  const counted = addCounter(
    metrics.registry,
    'sluice_owner_lookups',
    'Ids of objects at providers that the ledger was asked for, because no gateway knew them: found, unknown, refused because too many are unknown, failed because the data service did not answer',
    { labels: { outcome: new Set(ownerLookups) }, seriesMax: ownerLookups.length },
  );
  for (const outcome of ownerLookups) counted.child({ outcome }).add(0);
  const owners = new LedgerOwners({
    async ask(objects) {
      const method = usage.OwnerService.method.findOwners;
      const answer = await client.unary(
        method,
        { objects: [...objects] },
        { timeoutMs, failFast: true },
      );
      return answer.objects.map(({ organisationId, objectKey, kind, ...rest }) => {
        const { workspaceId, origin, provider, account, model, tier } = rest;
        const facts = { workspaceId, origin, provider, account, model };
        const note = { ...facts, kind: kind as ObjectKind, ...(tier !== '' && { tier }) };
        return { organisationId, objectKey, note };
      });
    },
    onOutcome(outcome, count) {
      if (count > 0) counted.child({ outcome }).add(count);
    },
  });
  return {
    ownerLedger: {
      note: (organisationId, objectKey, note) =>
        recordStoredObject(outbox, organisationId, objectKey, note),
      find: (object, who) => owners.find(object, who),
    },
    part: { name: 'owner-ledger', stop: () => client.close() },
  };
}
