import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { namedWorkspace, targetWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { reachCollection } from '../collections/operations.ts';
import {
  changePrompt,
  createPrompt,
  deletePrompt,
  labelVersion,
  type PromptWithVersion,
  publishVersion,
  reachPrompt,
  reachVersion,
} from './operations.ts';
import { presentPrompt, presentSummary, presentVersion } from './present.ts';
import { readPrompt } from './read-prompt.ts';
import { forkPrompt, sharePrompt } from './sharing.ts';
import { listPrompts, listVersions, publishedModels } from './store.ts';

export const promptOperations = {
  ...implementAll('prompts', {
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
      const { rows, total } = await listPrompts(
        call.db,
        {
          organisationId: call.caller.organisationId,
          workspaceId: workspace?.id,
          collectionId: collection?.id,
          search: query.search,
          onlyShared: query.type === 'shared',
        },
        query,
      );
      const ids = rows.map((row) => row.id);
      const models = await publishedModels(call.db, ids);
      const showShare = query.show_prompt_share === true;
      return {
        data: rows.map((row) => presentSummary(row, models.get(row.id) ?? null, showShare)),
        total,
      };
    },
    create: async (call, { body }) => created(await createPrompt(call, body)),
    read: async (call) => {
      const { prompt, version } = await readPrompt(call, idOf(call));
      return presentPrompt(prompt, version);
    },
    update: async (call, { body }) => {
      const { prompt, version } = await changePrompt(call, idOf(call), body);
      return { id: prompt.id, slug: prompt.slug, prompt_version_id: version.id };
    },
    delete: (call) => deletePrompt(call, idOf(call)),
    publish: (call, { body }) => publishVersion(call, idOf(call), body.version),
    fork: async (call, { body }) => created(await forkPrompt(call, idOf(call), body)),
  }),
  ...implementAll('prompts.versions', {
    list: async (call, { query }) => {
      const prompt = await reachPrompt(call, call.db, idOf(call));
      return (await listVersions(call.db, prompt.id, query)).map(presentVersion);
    },
    read: async (call) => {
      const prompt = await reachPrompt(call, call.db, idOf(call));
      const version = await reachVersion(call.db, prompt, pathParameter(call, 'versionId'));
      return presentPrompt(prompt, version);
    },
    update: (call, { body }) =>
      labelVersion(call, idOf(call), pathParameter(call, 'versionId'), body.label_id),
  }),
  ...implementAll('prompts.share', {
    create: (call, { body }) => sharePrompt(call, idOf(call), body),
    update: (call, { body }) => sharePrompt(call, idOf(call), body),
    delete: (call) => sharePrompt(call, idOf(call), null),
  }),
};

function idOf(call: AdminRequest): string {
  return pathParameter(call, 'promptId');
}

function created({ prompt, version }: PromptWithVersion) {
  return {
    id: prompt.id,
    slug: prompt.slug,
    version_id: version.id,
    object: 'prompt' as const,
  };
}
