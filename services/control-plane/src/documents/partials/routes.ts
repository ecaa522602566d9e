import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { namedWorkspace, targetWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { reachCollection } from '../collections/operations.ts';
import {
  changePartial,
  createPartial,
  deletePartial,
  type PartialWithVersion,
  publishVersion,
  reachPartial,
} from './operations.ts';
import { presentPartial, presentSummary, presentVersion } from './present.ts';
import { forkPartial, readPartial, sharePartial } from './sharing.ts';
import { listPartials, listVersions } from './store.ts';

export const partialOperations = {
  ...implementAll('partials', {
    list: async (call, { query }) => {
      const workspace = await targetWorkspace(
        call.db,
        call.caller,
        namedWorkspace(undefined, call.query),
      );
      const collection =
        query.collection_id === undefined
          ? undefined
          : await reachCollection(call, call.db, query.collection_id);
      const rows = await listPartials(
        call.db,
        {
          organisationId: call.caller.organisationId,
          workspaceId: workspace?.id,
          collectionId: collection?.id,
          onlyShared: query.type === 'shared',
        },
        query,
      );
      return rows.map((row) => presentSummary(row, query.show_prompt_share === true));
    },
    create: async (call, { body }) => created(await createPartial(call, body)),
    read: async (call) => {
      const { partial, version } = await readPartial(call, idOf(call));
      return presentPartial(partial, version);
    },
    update: async (call, { body }) => {
      const { version } = await changePartial(call, idOf(call), body);
      return { prompt_partial_version_id: version.id };
    },
    delete: (call) => deletePartial(call, idOf(call)),
    publish: (call, { body }) => publishVersion(call, idOf(call), body.version),
    fork: async (call, { body }) => created(await forkPartial(call, idOf(call), body)),
  }),
  ...implementAll('partials.versions', {
    list: async (call, { query }) => {
      const partial = await reachPartial(call, call.db, idOf(call));
      const versions = await listVersions(call.db, partial.id, query);
      return versions.map((version) => presentVersion(partial, version));
    },
  }),
  ...implementAll('partials.share', {
    create: (call, { body }) => sharePartial(call, idOf(call), body),
    update: (call, { body }) => sharePartial(call, idOf(call), body),
    delete: (call) => sharePartial(call, idOf(call), null),
  }),
};

function idOf(call: AdminRequest): string {
  return pathParameter(call, 'promptPartialId');
}

function created({ partial, version }: PartialWithVersion) {
  return { id: partial.id, slug: partial.slug, version_id: version.id };
}
