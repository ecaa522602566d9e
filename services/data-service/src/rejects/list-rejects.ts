import type { MessageInitShape } from '@bufbuild/protobuf';
import type { analytics } from '@sluice/proto-stubs';
import { Parameters } from '../queries/parameters.ts';
import type { Reader } from '../queries/questions.ts';
import { organisationOf } from '../sinks/entry-kinds.ts';
import { isWaiting, selectRejects } from './select-rejects.ts';

/** Of a body that is shown. */
const shownBytesMax = 65_536;

/** The rejects that are no rows yet, the latest first. */
export async function listRejects(
  client: Reader,
  { reason, pageSize, currentPage }: analytics.ListRejectsRequest,
): Promise<MessageInitShape<typeof analytics.ListRejectsResponseSchema>> {
  const parameters = new Parameters();
  const where =
    reason === '' ? isWaiting : `${isWaiting} AND reason = ${parameters.bind('String', reason)}`;
  const counted = await client.query({
    query: `SELECT toString(count()) AS total FROM usage_rejects FINAL WHERE ${where}`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  const [row] = await counted.json<{ total: string }>();
  const rows = await selectRejects(client, {
    columns: `if(length(record_base64) <= ${Math.ceil(shownBytesMax / 3) * 4}, record_base64, '') AS record_base64`,
    where,
    order: 'received_at DESC, digest',
    limit: `${pageSize} OFFSET ${currentPage * pageSize}`,
    parameters,
  });
  return {
    rejects: rows.map((reject) => ({
      id: reject.digest,
      reason: reject.reason,
      receivedAtMs: BigInt(reject.received_at_ms),
      size: BigInt(reject.size),
      ...(reject.record_base64 !== '' && bodyOf(reject.record_base64)),
    })),
    total: BigInt(row?.total ?? 0),
  };
}

function bodyOf(base64: string) {
  const record = Buffer.from(base64, 'base64');
  return { record, organisationId: organisationOf(record) };
}
