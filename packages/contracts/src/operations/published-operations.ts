import { matchObject } from './match-object.ts';
import type { Address } from './operation.ts';
import { type NamedOperation, type OperationId, operationIds, operations } from './operations.ts';

/** Who serves a published operation that is no row's own. */
export type OtherServer = 'control plane' | 'proxy' | 'nobody';

/** An operation of the published API's data plane, and how it is served here. */
export interface PublishedOperation {
  readonly at: Address;
  /** Its row. */
  readonly operation: NamedOperation | undefined;
  /** Where it has none. */
  readonly other: OtherServer | undefined;
}

/** The published data plane, November 2026. Below the gateway's own root or `/v1`. */
const published = [
  'POST /v1/chat/completions',
  'GET /v1/realtime',
  'POST /v1/completions',
  'POST /v1/prompts/:reference/completions',
  'POST /v1/prompts/:reference/render',
  'POST /v1/images/generations',
  'POST /v1/images/edits',
  'POST /v1/images/variations',
  'POST /v1/embeddings',
  'POST /v1/rerank',
  'POST /v1/audio/speech',
  'POST /v1/audio/transcriptions',
  'POST /v1/audio/translations',
  'GET /v1/files',
  'POST /v1/files',
  'GET /v1/files/:file_id',
  'DELETE /v1/files/:file_id',
  'GET /v1/files/:file_id/content',
  'GET /v1/fine_tuning/jobs',
  'POST /v1/fine_tuning/jobs',
  'GET /v1/fine_tuning/jobs/:fine_tuning_job_id',
  'GET /v1/fine_tuning/jobs/:fine_tuning_job_id/events',
  'POST /v1/fine_tuning/jobs/:fine_tuning_job_id/cancel',
  'GET /v1/fine_tuning/jobs/:fine_tuning_job_id/checkpoints',
  'GET /v1/models',
  'GET /v1/models/:model',
  'DELETE /v1/models/:model',
  'POST /v1/moderations',
  'GET /v1/assistants',
  'POST /v1/assistants',
  'GET /v1/assistants/:assistant_id',
  'POST /v1/assistants/:assistant_id',
  'DELETE /v1/assistants/:assistant_id',
  'POST /v1/responses',
  'GET /v1/responses/:response_id',
  'DELETE /v1/responses/:response_id',
  'GET /v1/responses/:response_id/input_items',
  'POST /v1/threads',
  'GET /v1/threads/:thread_id',
  'POST /v1/threads/:thread_id',
  'DELETE /v1/threads/:thread_id',
  'GET /v1/threads/:thread_id/messages',
  'POST /v1/threads/:thread_id/messages',
  'GET /v1/threads/:thread_id/messages/:message_id',
  'POST /v1/threads/:thread_id/messages/:message_id',
  'DELETE /v1/threads/:thread_id/messages/:message_id',
  'POST /v1/threads/runs',
  'GET /v1/threads/:thread_id/runs',
  'POST /v1/threads/:thread_id/runs',
  'GET /v1/threads/:thread_id/runs/:run_id',
  'POST /v1/threads/:thread_id/runs/:run_id',
  'POST /v1/threads/:thread_id/runs/:run_id/submit_tool_outputs',
  'POST /v1/threads/:thread_id/runs/:run_id/cancel',
  'GET /v1/threads/:thread_id/runs/:run_id/steps',
  'GET /v1/threads/:thread_id/runs/:run_id/steps/:step_id',
  'GET /v1/vector_stores',
  'POST /v1/vector_stores',
  'GET /v1/vector_stores/:vector_store_id',
  'POST /v1/vector_stores/:vector_store_id',
  'DELETE /v1/vector_stores/:vector_store_id',
  'GET /v1/vector_stores/:vector_store_id/files',
  'POST /v1/vector_stores/:vector_store_id/files',
  'GET /v1/vector_stores/:vector_store_id/files/:file_id',
  'DELETE /v1/vector_stores/:vector_store_id/files/:file_id',
  'POST /v1/vector_stores/:vector_store_id/file_batches',
  'GET /v1/vector_stores/:vector_store_id/file_batches/:batch_id',
  'POST /v1/vector_stores/:vector_store_id/file_batches/:batch_id/cancel',
  'GET /v1/vector_stores/:vector_store_id/file_batches/:batch_id/files',
  'GET /v1/batches',
  'POST /v1/batches',
  'GET /v1/batches/:batch_id/output',
  'GET /v1/batches/:batch_id',
  'POST /v1/batches/:batch_id/cancel',
  'POST /v1/logs',
  'GET /v1/logs/:id',
  'POST /v1/ocr',
  'POST /v1/messages',
  'POST /v1/messages/count_tokens',
  'POST /v1/agent/:agentServerId',
  'GET /v1/agent/:agentServerId/.well-known/agent.json',
  'GET /v0.1/servers',
  'POST /v1/otel/v1/traces',
  'POST /v1/otel/v1/logs',
] as const satisfies readonly Address[];

/** What its address alone does not say. */
const others: Partial<Record<(typeof published)[number], OperationId | OtherServer>> = {
  'GET /v1/realtime': 'proxy',
  'POST /v1/logs': 'control plane',
  'GET /v1/logs/:id': 'control plane',
  'GET /v0.1/servers': 'control plane',
  'POST /v1/otel/v1/traces': 'nobody',
  'POST /v1/otel/v1/logs': 'nobody',
  'POST /v1/agent/:agentServerId': 'agentCall',
  'GET /v1/agent/:agentServerId/.well-known/agent.json': 'agentCall',
};

const byAddress = new Map<string, NamedOperation>(
  operationIds.map((id) => [operations[id].at, operations[id]]),
);

/** Each, with the row that serves it. One with neither is found by a test. */
export const publishedOperations: readonly PublishedOperation[] = published.map((at) => {
  const [method = '', path = ''] = at.split(' ');
  const operation = byAddress.get(at) ?? matchObject(method, path)?.operation;
  if (operation !== undefined) return { at, operation, other: undefined };
  const other = others[at];
  return other !== undefined && other in operations
    ? { at, operation: operations[other as OperationId], other: undefined }
    : { at, operation: undefined, other: other as OtherServer | undefined };
});
