import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { listEnvelope } from '../../kernel/http/shapes.ts';
import { namedWorkspace, targetWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import {
  type ConfigParts,
  changeConfig,
  createConfig,
  deleteConfig,
  reachConfig,
} from './operations.ts';
import { presentConfig, presentConfigDetail, presentConfigVersion } from './present.ts';
import { currentVersion, listConfigs, listVersions } from './store.ts';

export function configOperations(parts: ConfigParts) {
  return implementAll('configs', {
    list: async (call, { query }) => {
      const workspace = await targetWorkspace(
        call.db,
        call.caller,
        namedWorkspace(undefined, call.query),
      );
      const scope = { organisationId: call.caller.organisationId, workspaceId: workspace?.id };
      const rows = await listConfigs(call.db, scope, query);
      return succeeded(rows.map(presentConfig));
    },
    create: async (call, input) => {
      const { id, slug, versionId } = await createConfig(call, input, parts);
      return succeeded({ id, slug, version_id: versionId });
    },
    read: async (call) => {
      const config = await reachConfig(call, call.db, slugOf(call));
      return succeeded(presentConfigDetail(config, await currentVersion(call.db, config)));
    },
    update: async (call, input) =>
      succeeded({ version_id: await changeConfig(call, slugOf(call), input, parts) }),
    delete: (call) => deleteConfig(call, slugOf(call)),
    versions: async (call, { query }) => {
      const config = await reachConfig(call, call.db, slugOf(call));
      const { rows, total } = await listVersions(call.db, config.id, query);
      return listEnvelope(
        rows.map((version) => presentConfigVersion(config, version)),
        total,
      );
    },
  });
}

function slugOf(call: AdminRequest): string {
  return pathParameter(call, 'slug');
}

function succeeded<T>(data: T) {
  return { success: true as const, data };
}
