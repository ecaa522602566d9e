import { z } from 'zod';
import {
  descriptionField,
  instantText,
  nameField,
  referenceField,
  slugField,
} from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { pageQuery, queryFlag } from '../kernel/paging.ts';
import {
  shareBody,
  shareShown,
  statusField,
  templateField,
  versionNumber,
} from './prompt-fields.ts';

const promptPartialSummary = z
  .object({
    id: z.uuid(),
    slug: z.string(),
    name: z.string(),
    collection_id: z.uuid(),
    workspace_id: z.uuid(),
    created_at: instantText,
    last_updated_at: instantText,
    status: statusField,
    share: shareShown.nullable().optional(),
    object: z.literal('partial'),
  })
  .register(shapeNames, { name: 'PromptPartialSummary' });

const promptPartial = z
  .object({
    id: z.uuid(),
    slug: z.string(),
    name: z.string(),
    collection_id: z.uuid(),
    workspace_id: z.uuid(),
    string: z.string(),
    version: z.number(),
    version_description: z.string().optional(),
    prompt_partial_version_id: z.uuid(),
    published_version: z.number(),
    latest_version: z.number(),
    created_at: instantText,
    last_updated_at: instantText,
    status: statusField,
  })
  .register(shapeNames, { name: 'PromptPartial' });

const promptPartialVersion = z
  .object({
    prompt_partial_id: z.uuid(),
    prompt_partial_version_id: z.uuid(),
    slug: z.string(),
    /** A number everywhere else, and text here: so it is published. */
    version: z.string(),
    string: z.string(),
    description: z.string().optional(),
    created_at: instantText,
    prompt_version_status: statusField,
    object: z.literal('partial'),
  })
  .register(shapeNames, { name: 'PromptPartialVersion' });

const createdPartial = z
  .object({
    id: z.uuid(),
    slug: z.string(),
    version_id: z.uuid(),
  })
  .register(shapeNames, { name: 'PromptPartialCreated' });

const createPartialBody = z.object({
  workspace_id: referenceField.optional(),
  name: nameField,
  slug: slugField.optional(),
  string: templateField,
  version_description: descriptionField.nullish(),
  /** Ours: the default collection of the workspace unless told. */
  collection_id: referenceField.optional(),
});

const updatePartialBody = z.object({
  name: nameField.optional(),
  string: templateField.optional(),
  description: descriptionField.nullish(),
  status: statusField.optional(),
  collection_id: referenceField.optional(),
});

const forkPartialBody = z
  .object({
    workspace_id: referenceField.optional(),
    name: nameField.optional(),
    collection_id: referenceField.optional(),
  })
  .prefault({});

const twin = 'partials are shared and copied as prompts are';

// Nobody named scopes for partials: they are parts of prompts.
export const partialsEndpoints = {
  'partials.list': endpoint({
    operationId: 'listPromptPartials',
    summary: 'List partials: texts that prompts have in common',
    tag: 'PromptPartials',
    method: 'get',
    path: '/prompts/partials',
    access: { keys: anyKey, scopes: ['prompts.list'] },
    query: z
      .object({
        collection_id: referenceField.optional(),
        workspace_id: referenceField.optional(),
        type: z.literal('shared').optional(),
        show_prompt_share: queryFlag.optional(),
      })
      .and(pageQuery({ default: 1000, max: 1000 })),
    answer: z.array(promptPartialSummary),
    errors: [400, 401, 403, 404, 500],
  }),
  'partials.create': endpoint({
    operationId: 'createPromptPartial',
    summary: 'Save a partial',
    tag: 'PromptPartials',
    method: 'post',
    path: '/prompts/partials',
    access: { keys: anyKey, scopes: ['prompts.create'] },
    audit: { resourceType: 'prompt_partials', action: 'create' },
    body: createPartialBody,
    answer: createdPartial,
    errors: [400, 401, 403, 500],
  }),
  'partials.read': endpoint({
    operationId: 'getPromptPartial',
    summary: 'Show one partial',
    tag: 'PromptPartials',
    method: 'get',
    path: '/prompts/partials/{promptPartialId}',
    access: { keys: anyKey, scopes: ['prompts.read'] },
    answer: promptPartial,
    errors: [400, 401, 403, 404, 500],
  }),
  'partials.update': endpoint({
    operationId: 'updatePromptPartial',
    summary: 'Change a partial, which makes a new version',
    tag: 'PromptPartials',
    method: 'put',
    path: '/prompts/partials/{promptPartialId}',
    access: { keys: anyKey, scopes: ['prompts.update'] },
    audit: { resourceType: 'prompt_partials', action: 'update' },
    body: updatePartialBody,
    answer: z.object({
      prompt_partial_version_id: z.uuid(),
    }),
    errors: [400, 401, 403, 404, 500],
  }),
  'partials.delete': endpoint({
    operationId: 'deletePromptPartial',
    summary: 'Delete a partial',
    tag: 'PromptPartials',
    method: 'delete',
    path: '/prompts/partials/{promptPartialId}',
    access: { keys: anyKey, scopes: ['prompts.delete'] },
    audit: { resourceType: 'prompt_partials', action: 'delete' },
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
  'partials.versions.list': endpoint({
    operationId: 'getPromptPartialVersions',
    summary: 'List the versions of a partial',
    tag: 'PromptPartials',
    method: 'get',
    path: '/prompts/partials/{promptPartialId}/versions',
    access: { keys: anyKey, scopes: ['prompts.read'] },
    query: pageQuery({ default: 1000, max: 1000 }),
    answer: z.array(promptPartialVersion),
    errors: [400, 401, 403, 404, 500],
  }),
  'partials.publish': endpoint({
    operationId: 'updatePromptPartialDefault',
    summary: 'Choose the version of a partial that is used',
    tag: 'PromptPartials',
    method: 'put',
    path: '/prompts/partials/{promptPartialId}/makeDefault',
    access: { keys: anyKey, scopes: ['prompts.publish'] },
    audit: { resourceType: 'prompt_partials', action: 'publish' },
    body: z.object({ version: versionNumber }),
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
  'partials.share.create': endpoint({
    operationId: 'sharePromptPartial',
    summary: 'Share a partial with workspaces',
    tag: 'PromptPartials',
    method: 'post',
    path: '/prompts/partials/{promptPartialId}/share',
    access: { keys: anyKey, scopes: ['prompts.update'] },
    audit: { resourceType: 'prompt_partials', action: 'manage' },
    body: shareBody,
    answer: nothing,
    added: twin,
  }),
  'partials.share.update': endpoint({
    operationId: 'updatePromptPartialShare',
    summary: 'Set the workspaces that a partial is shared with',
    tag: 'PromptPartials',
    method: 'put',
    path: '/prompts/partials/{promptPartialId}/share',
    access: { keys: anyKey, scopes: ['prompts.update'] },
    audit: { resourceType: 'prompt_partials', action: 'manage' },
    body: shareBody,
    answer: nothing,
    added: twin,
  }),
  'partials.share.delete': endpoint({
    operationId: 'unsharePromptPartial',
    summary: 'Share a partial no longer',
    tag: 'PromptPartials',
    method: 'delete',
    path: '/prompts/partials/{promptPartialId}/share',
    access: { keys: anyKey, scopes: ['prompts.update'] },
    audit: { resourceType: 'prompt_partials', action: 'manage' },
    answer: nothing,
    added: twin,
  }),
  'partials.fork': endpoint({
    operationId: 'forkPromptPartial',
    summary: 'Copy a partial',
    tag: 'PromptPartials',
    method: 'post',
    path: '/prompts/partials/{promptPartialId}/fork',
    access: { keys: anyKey, scopes: ['prompts.create'] },
    audit: { resourceType: 'prompt_partials', action: 'duplicate' },
    body: forkPartialBody,
    answer: createdPartial,
    added: twin,
  }),
};
