import type { MessageInitShape } from '@bufbuild/protobuf';
import type { analytics } from '@sluice/proto-stubs';
import type { Reader } from '../queries/questions.ts';
import { readHead, readSeals } from './seal-rows.ts';

/** The seals of an organisation, the latest first. */
export async function listSeals(
  client: Reader,
  { organisationId, pageSize, currentPage }: analytics.ListSealsRequest,
): Promise<MessageInitShape<typeof analytics.ListSealsResponseSchema>> {
  // Sequences have no holes, unless somebody made one.
  const head = await readHead(client, organisationId);
  const seals = await readSeals(client, organisationId, {
    where: 'true',
    order: 'sequence DESC',
    limit: `${pageSize} OFFSET ${currentPage * pageSize}`,
  });
  return {
    seals: seals.map((seal) => ({
      sequence: BigInt(seal.sequence),
      kind: seal.kind,
      day: seal.day,
      workspaceId: seal.workspaceId,
      recordsDay: seal.recordsDay,
      records: BigInt(seal.records),
      inputTokens: seal.inputTokens,
      outputTokens: seal.outputTokens,
      costNanoUsd: seal.costNanoUsd,
      adjustments: BigInt(seal.adjustments),
      adjustedNanoUsd: seal.adjustedNanoUsd,
      hash: seal.hash,
    })),
    total: BigInt(head?.sequence ?? 0),
  };
}

export async function listSealedOrganisations(client: Reader): Promise<string[]> {
  const result = await client.query({
    query: 'SELECT DISTINCT organisation_id FROM ledger_seals ORDER BY organisation_id',
    format: 'JSONEachRow',
  });
  return (await result.json<{ organisation_id: string }>()).map((row) => row.organisation_id);
}
