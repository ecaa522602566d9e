import { type analytics, usage } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';

/** The one request that the ledger of the tests holds, whoever asks for it. */
export const heldRequestId = '0199c3a0-1234-7abc-8def-0123456789ab';
/** The trace that it belongs to. */
export const heldTraceId = 'a-trace';

interface Owner {
  readonly organisation_id: string;
  readonly workspace_id: string;
}

interface Asked {
  readonly organisationId: string;
  readonly workspaceIds: readonly string[];
}

/** Logs of one workspace: the one request. */
export function heldLogs(owner: Owner): RpcHandlers<typeof analytics.LogService> {
  const isHeld = ({ organisationId, workspaceIds }: Asked, id: string) =>
    id === heldRequestId &&
    organisationId === owner.organisation_id &&
    (workspaceIds.length === 0 || workspaceIds.includes(owner.workspace_id));
  return {
    listLogs: async ({ filter }) =>
      filter?.organisationId === owner.organisation_id
        ? { entries: [{ record: recordOf(owner), attempts: 1 }], nextCursor: 'MTcz', total: 1n }
        : {},
    getLog: async (asked) =>
      isHeld(asked, asked.id)
        ? { entry: { record: recordOf(owner), attempts: 1 }, attempts: [recordOf(owner)] }
        : {},
    listAttempts: async (asked) =>
      isHeld(asked, asked.traceId === heldTraceId ? heldRequestId : asked.requestId)
        ? { attempts: [recordOf(owner)] }
        : {},
    async *listPastRequests(asked) {
      if (isHeld(asked, heldRequestId)) yield { attempts: [recordOf(owner)] };
    },
  };
}

function recordOf({ organisation_id: organisationId, workspace_id: workspaceId }: Owner) {
  const id = Buffer.from(heldRequestId.replaceAll('-', ''), 'hex');
  return {
    id,
    requestId: id,
    traceId: heldTraceId,
    organisationId,
    workspaceId,
    createdAtMs: 1735689600000n,
    method: 'POST',
    requestUrl: '/v1/chat/completions',
    endpoint: 'chatComplete',
    provider: 'openai',
    model: 'gpt-4o',
    optionPath: 'config.targets[1]',
    strategyMode: 'fallback',
    outcome: usage.Outcome.UPSTREAM_FAILURE,
    statusCode: 503,
    errorCode: 'upstream.unreachable',
    failureCause: 'refused',
    cacheStatus: 'MISS',
    decisionJson: '{"mode":"fallback","targets":2,"choices":[],"hooks":[]}',
    metadata: { team: 'a' },
    countersReserved: { 'tokens@1': 7n },
  };
}
