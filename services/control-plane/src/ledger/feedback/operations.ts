import type { BodyOf } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { isUuid, newId } from '../../kernel/names/ids.ts';
import { insertFeedback, updateFeedback } from './store.ts';

/**
 * What people think of answers. Applications send it all the time, so it is
 * not an administrative action: plain rows, no audit entry, no lock.
 */
export async function createFeedback(
  call: AdminRequest,
  body: BodyOf<'feedback.create'>,
): Promise<string[]> {
  const { organisationId, keyId, userId } = call.caller;
  const workspaceId = workspaceOf(call);
  const rows = [body].flat().map((feedback) => ({
    id: newId(),
    organisationId,
    workspaceId,
    traceId: feedback.trace_id,
    value: feedback.value,
    weight: feedback.weight,
    metadata: (feedback.metadata ?? {}) as Prisma.InputJsonObject,
    apiKeyId: keyId,
    userId: userId ?? null,
    createdAt: call.now,
    updatedAt: call.now,
  }));
  await insertFeedback(call.db, rows);
  return rows.map((row) => row.id);
}

/** What the body leaves out stays. Another workspace's feedback does not exist. */
export async function changeFeedback(
  call: AdminRequest,
  id: string,
  body: BodyOf<'feedback.update'>,
): Promise<void> {
  if (!isUuid(id)) throw invalidField('path.id', 'must be a UUID');
  const isChanged = await updateFeedback(call.db, workspaceOf(call), id.toLowerCase(), {
    value: body.value,
    weight: body.weight,
    metadata: body.metadata as Prisma.InputJsonObject | undefined,
    updatedAt: call.now,
  });
  if (!isChanged) throw new GatewayError('admin.not_found');
}

/** Workspace keys alone are let in. */
function workspaceOf({ caller }: AdminRequest): string {
  if (caller.workspaceId === undefined) throw new GatewayError('auth.wrong_key_type');
  return caller.workspaceId;
}
