import { createConfigBody, updateConfigBody } from '@sluice/contracts';
import type { Operation } from '../http/operation.ts';
import { parseInput } from '../http/parse-input.ts';
import { listEnvelope } from '../http/shapes.ts';
import { namedWorkspace, targetWorkspace } from '../http/target-workspace.ts';
import { changeConfig, createConfig, deleteConfig, reachConfig } from './operations.ts';
import { presentConfig, presentConfigDetail, presentConfigVersion } from './present.ts';
import { currentVersion, listConfigs, listVersions } from './store.ts';

export const configOperations: readonly Operation[] = [
  {
    id: 'configs.list',
    method: 'get',
    path: '/configs',
    async handle(call) {
      const workspace = await targetWorkspace(
        call.db,
        call.caller,
        namedWorkspace(undefined, call.query),
      );
      const rows = await listConfigs(call.db, {
        organisationId: call.caller.organisationId,
        workspaceId: workspace?.id,
      });
      return { success: true, data: rows.map(presentConfig) };
    },
  },
  {
    id: 'configs.create',
    method: 'post',
    path: '/configs',
    async handle(call) {
      const { id, slug, versionId } = await createConfig(
        call,
        parseInput(createConfigBody, call.body, 'body'),
      );
      return { success: true, data: { id, slug, version_id: versionId } };
    },
  },
  {
    id: 'configs.read',
    method: 'get',
    path: '/configs/:slug',
    async handle(call) {
      const config = await reachConfig(call, call.db, call.params.slug ?? '');
      return {
        success: true,
        data: presentConfigDetail(config, await currentVersion(call.db, config)),
      };
    },
  },
  {
    id: 'configs.update',
    method: 'put',
    path: '/configs/:slug',
    async handle(call) {
      const versionId = await changeConfig(
        call,
        call.params.slug ?? '',
        parseInput(updateConfigBody, call.body, 'body'),
      );
      return { success: true, data: { version_id: versionId } };
    },
  },
  {
    id: 'configs.delete',
    method: 'delete',
    path: '/configs/:slug',
    async handle(call) {
      await deleteConfig(call, call.params.slug ?? '');
      return {};
    },
  },
  {
    id: 'configs.versions',
    method: 'get',
    path: '/configs/:slug/versions',
    async handle(call) {
      const config = await reachConfig(call, call.db, call.params.slug ?? '');
      const { rows, total } = await listVersions(call.db, config.id);
      return listEnvelope(
        rows.map((version) => presentConfigVersion(config, version)),
        total,
      );
    },
  },
];
