import type { AnswerOf } from '@sluice/contracts/admin';
import { jsonBounds, readJsonText } from '@sluice/json';
import { instant } from '../../kernel/http/shapes.ts';
import type { AuditRow } from './store.ts';
import type { ChainHead, ChainVerdict } from './verify.ts';

type Shown = AnswerOf<'audit-logs.list'>['records'][number];

/** What does not apply to an entry is left out of it: no field of a record is published as nullable. */
export function presentEntry(row: AuditRow): Shown {
  return {
    timestamp: instant(row.timestamp),
    method: row.method as Shown['method'],
    uri: row.uri,
    request_id: row.requestId,
    request_body: row.requestBody,
    query_params: row.queryParams,
    request_headers: row.requestHeaders,
    user_id: row.userId ?? undefined,
    // As published there are two: what nobody asked for has no `user_id`, and no `api_key_id`.
    user_type: row.userType === 'user' ? 'user' : 'api_key',
    api_key_id: row.apiKeyId ?? undefined,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId ?? undefined,
    response_status_code: row.responseStatusCode,
    resource_type: row.resourceType,
    resource_id: row.resourceId ?? undefined,
    action: row.action,
    client_ip: row.clientIp,
    country: row.country ?? undefined,
    detail: row.detail ?? undefined,
    before: row.before ?? undefined,
    after: row.after ?? undefined,
    sequence: Number(row.sequence),
    previous_hash: hex(row.previousHash),
    hash: hex(row.hash),
  };
}

type Line = AnswerOf<'audit-logs.export'>;

/** The same with its JSON read, and with who did it told apart. */
export function presentLine(row: AuditRow): Line {
  const { request_body, query_params, request_headers, detail, before, after, ...entry } =
    presentEntry(row);
  return {
    ...entry,
    user_type: row.userType as Line['user_type'],
    request_body: jsonOf(request_body),
    query_params: jsonOf(query_params),
    request_headers: jsonOf(request_headers),
    ...(detail === undefined ? {} : { detail: jsonOf(detail) }),
    ...(before === undefined ? {} : { before: jsonOf(before) }),
    ...(after === undefined ? {} : { after: jsonOf(after) }),
  };
}

/** What is none, or too large to be read beside others, stays text; what was not sent is null. */
function jsonOf(text: string): unknown {
  if (text === '') return null;
  try {
    return readJsonText(text, jsonBounds.small);
  } catch {
    return text;
  }
}

export function presentVerification(
  organisationId: string,
  { head, fault, ...verdict }: ChainVerdict & { head: ChainHead },
): AnswerOf<'audit-logs.verify'> {
  return {
    object: 'audit-log-verification',
    organisation_id: organisationId,
    valid: fault === undefined,
    entries: verdict.entries,
    first_sequence: verdict.firstSequence === null ? null : Number(verdict.firstSequence),
    last_sequence: verdict.lastSequence === null ? null : Number(verdict.lastSequence),
    head_hash: hex(head.hash),
    fault: fault && { ...fault, sequence: Number(fault.sequence) },
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
