import type { usage } from '@sluice/proto-stubs';
import { type JsonRow, timestamp, uuid } from './column-values.ts';

export function lateHookRow(hook: usage.LateHook): JsonRow {
  return {
    id: uuid(hook.id, 'id'),
    organisation_id: hook.organisationId,
    workspace_id: hook.workspaceId,
    request_id: uuid(hook.requestId, 'request_id'),
    option_path: hook.optionPath,
    verdict_json: hook.verdictJson,
    created_at: timestamp(hook.createdAtMs, 'created_at_ms'),
  };
}
