import { createProviderBody, listProvidersQuery, updateProviderBody } from '@sluice/contracts';
import type { Operation } from '../http/operation.ts';
import { parseInput } from '../http/parse-input.ts';
import { listEnvelope } from '../http/shapes.ts';
import { namedWorkspace, requireWorkspace } from '../http/target-workspace.ts';
import { changeProvider, createProvider, deleteProvider, reachProvider } from './operations.ts';
import { presentProvider } from './present.ts';
import { listProviders } from './store.ts';

export const providerOperations: readonly Operation[] = [
  {
    id: 'providers.list',
    method: 'get',
    path: '/providers',
    async handle(call) {
      const query = parseInput(listProvidersQuery, call.query, 'query');
      const workspace = await requireWorkspace(
        call.db,
        call.caller,
        namedWorkspace(undefined, call.query),
      );
      const { rows, total } = await listProviders(call.db, workspace.id, query);
      return listEnvelope(
        rows.map((row) => presentProvider(row, call.now)),
        total,
      );
    },
  },
  {
    id: 'providers.create',
    method: 'post',
    path: '/providers',
    handle: (call) => createProvider(call, parseInput(createProviderBody, call.body, 'body')),
  },
  {
    id: 'providers.read',
    method: 'get',
    path: '/providers/:slug',
    handle: async (call) =>
      presentProvider(await reachProvider(call, call.db, call.params.slug ?? ''), call.now),
  },
  {
    id: 'providers.update',
    method: 'put',
    path: '/providers/:slug',
    handle: (call) =>
      changeProvider(
        call,
        call.params.slug ?? '',
        parseInput(updateProviderBody, call.body, 'body'),
      ),
  },
  {
    id: 'providers.delete',
    method: 'delete',
    path: '/providers/:slug',
    async handle(call) {
      await deleteProvider(call, call.params.slug ?? '');
      return {};
    },
  },
];
