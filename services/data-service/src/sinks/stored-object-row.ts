import type { usage } from '@sluice/proto-stubs';
import { type JsonRow, timestamp, uuid } from './column-values.ts';

export function storedObjectRow(object: usage.StoredObject): JsonRow {
  return {
    id: uuid(object.id, 'id'),
    organisation_id: object.organisationId,
    object_key: object.objectKey,
    origin: object.origin,
    workspace_id: object.workspaceId,
    kind: object.kind,
    provider: object.provider,
    account: object.account,
    model: object.model,
    tier: object.tier,
    noted_at: timestamp(object.notedAtMs, 'noted_at_ms'),
  };
}
