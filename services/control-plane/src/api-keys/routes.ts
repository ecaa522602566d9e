import {
  createApiKeyBody,
  type KeyType,
  keyTypes,
  listApiKeysQuery,
  rotateApiKeyBody,
  updateApiKeyBody,
} from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { Operation } from '../http/operation.ts';
import { invalidField, parseInput } from '../http/parse-input.ts';
import { instant, listEnvelope } from '../http/shapes.ts';
import { namedWorkspace, targetWorkspace } from '../http/target-workspace.ts';
import {
  changeApiKey,
  createApiKey,
  deleteApiKey,
  reachApiKey,
  rotateApiKey,
} from './operations.ts';
import { presentApiKey } from './present.ts';
import type { MintKey } from './secrets.ts';
import { listApiKeys } from './store.ts';

export function apiKeyOperations(mintKey: MintKey): readonly Operation[] {
  return [
    {
      // Before the two-part create path, which would take `rotate` for a kind of key.
      id: 'api-keys.rotate',
      method: 'post',
      path: '/api-keys/:id/rotate',
      async handle(call) {
        const body = parseInput(rotateApiKeyBody.prefault({}), call.body, 'body');
        const rotated = await rotateApiKey(
          call,
          call.params.id ?? '',
          body.key_transition_period_ms,
          mintKey,
        );
        return {
          id: rotated.id,
          key: rotated.key,
          key_transition_expires_at: instant(rotated.overlapEndsAt),
        };
      },
    },
    {
      id: 'api-keys.create',
      method: 'post',
      path: '/api-keys/:type/:subType',
      async handle(call) {
        const type = keyTypeOf(call.params.type ?? '', call.params.subType ?? '');
        const created = await createApiKey(
          call,
          type,
          parseInput(createApiKeyBody, call.body, 'body'),
          mintKey,
        );
        return { ...created, object: 'api-key' };
      },
    },
    {
      id: 'api-keys.list',
      method: 'get',
      path: '/api-keys',
      async handle(call) {
        const query = parseInput(listApiKeysQuery, call.query, 'query');
        const workspace = await targetWorkspace(
          call.db,
          call.caller,
          namedWorkspace(undefined, call.query),
        );
        const { rows, total } = await listApiKeys(
          call.db,
          {
            organisationId: call.caller.organisationId,
            workspaceId: workspace?.id,
            types: keyTypes.filter((type) => call.permits(type)),
            ids: query.ids,
          },
          query,
        );
        return listEnvelope(
          rows.map((row) => presentApiKey(row, call.now)),
          total,
        );
      },
    },
    {
      id: 'api-keys.read',
      method: 'get',
      path: '/api-keys/:id',
      handle: async (call) =>
        presentApiKey(await reachApiKey(call, call.db, call.params.id ?? ''), call.now),
    },
    {
      id: 'api-keys.update',
      method: 'put',
      path: '/api-keys/:id',
      async handle(call) {
        await changeApiKey(
          call,
          call.params.id ?? '',
          parseInput(updateApiKeyBody.prefault({}), call.body, 'body'),
        );
        return {};
      },
    },
    {
      id: 'api-keys.delete',
      method: 'delete',
      path: '/api-keys/:id',
      async handle(call) {
        await deleteApiKey(call, call.params.id ?? '');
        return {};
      },
    },
  ];
}

function keyTypeOf(type: string, subType: string): KeyType {
  if (type !== 'organisation' && type !== 'workspace')
    throw new GatewayError('request.route_not_found');
  if (subType !== 'service' && subType !== 'user')
    throw new GatewayError('request.route_not_found');
  if (type === 'organisation' && subType === 'user')
    throw invalidField('path.type', 'an organisation has no user keys');
  return `${type}-${subType}` as KeyType;
}
