import { implement, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminCall, Operation } from '../../kernel/http/operation.ts';
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

export const partialOperations: readonly Operation[] = [
  implement('partials.list', async (call, { query }) => {
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
  }),
  implement('partials.create', async (call, { body }) => created(await createPartial(call, body))),
  implement('partials.read', async (call) => {
    const { partial, version } = await readPartial(call, idOf(call));
    return presentPartial(partial, version);
  }),
  implement('partials.update', async (call, { body }) => {
    const { version } = await changePartial(call, idOf(call), body);
    return { prompt_partial_version_id: version.id };
  }),
  implement('partials.delete', async (call) => {
    await deletePartial(call, idOf(call));
    return {};
  }),
  implement('partials.versions.list', async (call, { query }) => {
    const partial = await reachPartial(call, call.db, idOf(call));
    const versions = await listVersions(call.db, partial.id, query);
    return versions.map((version) => presentVersion(partial, version));
  }),
  implement('partials.publish', async (call, { body }) => {
    await publishVersion(call, idOf(call), body.version);
    return {};
  }),
  implement('partials.share.create', async (call, { body }) => {
    await sharePartial(call, idOf(call), body);
    return {};
  }),
  implement('partials.share.update', async (call, { body }) => {
    await sharePartial(call, idOf(call), body);
    return {};
  }),
  implement('partials.share.delete', async (call) => {
    await sharePartial(call, idOf(call), null);
    return {};
  }),
  implement('partials.fork', async (call, { body }) =>
    created(await forkPartial(call, idOf(call), body)),
  ),
];

function idOf(call: AdminCall): string {
  return pathParameter(call, 'promptPartialId');
}

function created({ partial, version }: PartialWithVersion) {
  return { id: partial.id, slug: partial.slug, version_id: version.id };
}
