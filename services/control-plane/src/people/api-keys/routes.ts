import { type KeyType, keyTypes } from '@sluice/contracts';
import { invalidField } from '@sluice/errors';
import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { instant, listEnvelope } from '../../kernel/http/shapes.ts';
import { usagesOf } from '../../limits/usage-limits/usages-of.ts';
import { changeApiKey, createApiKey, deleteApiKey, visibleApiKeys } from './operations.ts';
import { presentApiKey } from './present.ts';
import { reachApiKey } from './reach.ts';
import { rotateApiKey } from './rotate.ts';
import type { MintKey } from './secrets.ts';
import { resumeApiKey, suspendApiKey } from './suspend.ts';

const object = 'api-key' as const;

export function apiKeyOperations(mintKey: MintKey) {
  return implementAll('api-keys', {
    // Before the two-part create path, which would take `rotate`, `suspend` and `resume` for a kind of key.
    rotate: async (call, { body }) => {
      const transitionMs = body.key_transition_period_ms;
      const { overlapEndsAt, ...made } = await rotateApiKey(
        call,
        idOf(call),
        transitionMs,
        mintKey,
      );
      return { ...made, key_transition_expires_at: instant(overlapEndsAt) };
    },
    suspend: (call) => suspendApiKey(call, idOf(call)),
    resume: (call) => resumeApiKey(call, idOf(call)),
    create: async (call, { body }) => ({
      ...(await createApiKey(call, keyTypeOf(call), body, mintKey)),
      object,
    }),
    list: async (call, { query }) => {
      const types = keyTypes.filter((type) => call.permits(type));
      const { rows, total } = await visibleApiKeys(call, types, query);
      const usages = await usagesOf(call.db, rows);
      return listEnvelope(
        rows.map((row) => presentApiKey(row, call.now, usages)),
        total,
      );
    },
    read: async (call) => {
      const key = await reachApiKey(call, call.db, idOf(call), 'view');
      return presentApiKey(key, call.now, await usagesOf(call.db, [key]));
    },
    update: (call, { body }) => changeApiKey(call, idOf(call), body),
    delete: (call) => deleteApiKey(call, idOf(call)),
  });
}

function idOf(call: AdminRequest): string {
  return pathParameter(call, 'id');
}

function keyTypeOf(call: AdminRequest): KeyType {
  const named = `${pathParameter(call, 'type')}-${pathParameter(call, 'subType')}`;
  const type = keyTypes.find((each) => each === named);
  // Each half of the path is known, so it is the one pair that is no kind of key.
  if (type === undefined) throw invalidField('path.type', 'an organisation has no user keys');
  return type;
}
