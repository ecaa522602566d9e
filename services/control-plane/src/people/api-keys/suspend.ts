import { GatewayError } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { presentApiKey } from './present.ts';
import { reachApiKey, showApiKey } from './reach.ts';
import { type ApiKeyRow, countOtherWorkingKeys, updateApiKey } from './store.ts';

/** From now on whoever uses the key is refused, with all of its secrets. Twice is as once. */
export function suspendApiKey(call: AdminRequest, id: string): Promise<void> {
  return change(call, id, async (db, key) => {
    if (
      key.type === 'organisation-service' &&
      (await countOtherWorkingKeys(db, key, call.now)) === 0
    )
      throw new GatewayError('admin.refused', {
        message: 'The last organisation key that works cannot be suspended.',
      });
    return key.suspendedAt ?? call.now;
  });
}

export function resumeApiKey(call: AdminRequest, id: string): Promise<void> {
  return change(call, id, async () => null);
}

function change(
  call: AdminRequest,
  id: string,
  suspendedAt: (db: Database, key: ApiKeyRow) => Promise<Date | null>,
): Promise<void> {
  return call.change(async ({ db, describe, touchKey }) => {
    const key = await reachApiKey(call, db, id, 'manage');
    await updateApiKey(db, key.id, {
      suspendedAt: await suspendedAt(db, key),
      updatedAt: call.now,
    });
    touchKey(key.id);
    describe({
      resourceId: key.id,
      workspaceId: key.workspaceId ?? undefined,
      before: presentApiKey(key, call.now),
      after: await showApiKey(db, key.id, call.now),
      detail: { api_key_id: key.id },
    });
  });
}
