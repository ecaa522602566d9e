import { z } from 'zod';
import {
  descriptionField,
  flagField,
  instantText,
  nameField,
  referenceField,
  searchField,
  slugField,
} from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint, nothing, openEndpoint } from '../kernel/endpoint.ts';
import { pageQuery, queryFlag } from '../kernel/paging.ts';
import {
  shareBody,
  shareShown,
  statusField,
  templateField,
  versionNumber,
} from './prompt-fields.ts';

const anyObject = z.record(z.string(), z.unknown());
/** An object as published, or one of the words that providers take (`auto`, `none`, `required`). */
const toolChoice = z.union([anyObject, z.string().min(1).max(64)]);
const toolList = z.array(anyObject).max(1000);

const promptSummary = z
  .object({
    id: z.uuid(),
    slug: z.string(),
    name: z.string(),
    collection_id: z.uuid(),
    workspace_id: z.uuid(),
    model: z.string().optional(),
    status: statusField,
    created_at: instantText,
    last_updated_at: instantText,
    share: shareShown.nullable().optional(),
    object: z.literal('prompt'),
  })
  .register(shapeNames, { name: 'PromptSummary' });

/** What one version says. */
const versionContent = z.object({
  string: z.string(),
  parameters: anyObject,
  virtual_key: z.string(),
  model: z.string().optional(),
  functions: z.array(anyObject).optional(),
  tools: z.array(anyObject).optional(),
  tool_choice: toolChoice.optional(),
  template_metadata: anyObject.optional(),
  is_raw_template: z.boolean(),
});

const prompt = versionContent
  .extend({
    id: z.uuid(),
    slug: z.string(),
    name: z.string(),
    collection_id: z.uuid(),
    workspace_id: z.uuid(),
    prompt_version: z.number(),
    prompt_version_id: z.uuid(),
    prompt_version_status: statusField,
    prompt_version_description: z.string().optional(),
    /** The label that was set last; a version may carry several. */
    prompt_version_label_id: z.uuid().optional(),
    prompt_version_label_ids: z.array(z.uuid()),
    published_version: z.number(),
    latest_version: z.number(),
    status: statusField,
    created_at: instantText,
    last_updated_at: instantText,
  })
  .register(shapeNames, { name: 'Prompt' });

const promptVersionSummary = z
  .object({
    id: z.uuid(),
    prompt_id: z.uuid(),
    prompt_template: versionContent,
    prompt_version: z.number(),
    prompt_description: z.string().optional(),
    label_id: z.uuid().optional(),
    label_ids: z.array(z.uuid()),
    created_at: instantText,
    status: statusField,
    object: z.literal('prompt'),
  })
  .register(shapeNames, { name: 'PromptVersionSummary' });

const createdPrompt = z
  .object({
    id: z.uuid(),
    slug: z.string(),
    version_id: z.uuid(),
    object: z.literal('prompt'),
  })
  .register(shapeNames, { name: 'PromptCreated' });

/** Bodies of chat or text completions, both ways. */
const completionBody = z.record(z.string(), z.unknown());

/** What a version is made of, as it is sent. */
const sentContent = {
  string: templateField.min(1),
  parameters: anyObject,
  virtual_key: referenceField,
  model: z.string().min(1).max(1024).nullish(),
  functions: toolList.nullish(),
  tools: toolList.nullish(),
  tool_choice: toolChoice.nullish(),
};

const createPromptBody = z.object({
  ...sentContent,
  workspace_id: referenceField.optional(),
  name: nameField,
  slug: slugField.optional(),
  collection_id: referenceField,
  version_description: descriptionField.nullish(),
  template_metadata: anyObject.nullish(),
  is_raw_template: flagField.default(false),
});

const updatePromptBody = z.object({
  ...sentContent,
  string: sentContent.string.optional(),
  parameters: sentContent.parameters.optional(),
  virtual_key: sentContent.virtual_key.optional(),
  patch: z.boolean().default(false),
  name: nameField.optional(),
  collection_id: referenceField.optional(),
  version_description: descriptionField.nullish(),
  is_raw_template: flagField.optional(),
  prompt_metadata: anyObject.nullish(),
  /** As it is called when a prompt is created. */
  template_metadata: anyObject.nullish(),
});

const forkPromptBody = z
  .object({
    workspace_id: referenceField.optional(),
    name: nameField.optional(),
    collection_id: referenceField.optional(),
    virtual_key: referenceField.optional(),
  })
  .prefault({});

export const promptsEndpoints = {
  'prompts.list': endpoint({
    operationId: 'listPrompts',
    summary: 'List prompts',
    tag: 'Prompts',
    method: 'get',
    path: '/prompts',
    access: { keys: anyKey, scopes: ['prompts.list'] },
    query: z
      .object({
        collection_id: referenceField.optional(),
        workspace_id: referenceField.optional(),
        search: searchField.optional(),
        type: z.literal('shared').optional(),
        show_prompt_share: queryFlag.optional(),
      })
      .and(pageQuery({ default: 100, max: 1000 })),
    answer: z.object({
      data: z.array(promptSummary),
      total: z.int(),
    }),
    errors: [400, 401, 403, 500],
  }),
  'prompts.create': endpoint({
    operationId: 'createPrompt',
    summary: 'Save a prompt',
    tag: 'Prompts',
    method: 'post',
    path: '/prompts',
    access: { keys: anyKey, scopes: ['prompts.create'] },
    audit: { resourceType: 'prompts', action: 'create' },
    body: createPromptBody,
    answer: createdPrompt,
    errors: [400, 401, 403, 500],
  }),
  'prompts.read': endpoint({
    operationId: 'getPrompt',
    summary: 'Show one prompt',
    tag: 'Prompts',
    method: 'get',
    path: '/prompts/{promptId}',
    access: { keys: anyKey, scopes: ['prompts.read'] },
    answer: prompt,
    errors: [400, 401, 403, 404, 500],
  }),
  'prompts.update': endpoint({
    operationId: 'updatePrompt',
    summary: 'Change a prompt, which makes a new version',
    tag: 'Prompts',
    method: 'put',
    path: '/prompts/{promptId}',
    access: { keys: anyKey, scopes: ['prompts.update'] },
    audit: { resourceType: 'prompts', action: 'update' },
    body: updatePromptBody,
    answer: z.object({
      id: z.uuid(),
      slug: z.string(),
      prompt_version_id: z.uuid(),
    }),
    errors: [400, 401, 403, 404, 500],
  }),
  'prompts.delete': endpoint({
    operationId: 'deletePrompt',
    summary: 'Delete a prompt',
    tag: 'Prompts',
    method: 'delete',
    path: '/prompts/{promptId}',
    access: { keys: anyKey, scopes: ['prompts.delete'] },
    audit: { resourceType: 'prompts', action: 'delete' },
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
  'prompts.versions.list': endpoint({
    operationId: 'getPromptVersions',
    summary: 'List the versions of a prompt',
    tag: 'Prompts',
    method: 'get',
    path: '/prompts/{promptId}/versions',
    access: { keys: anyKey, scopes: ['prompts.read'] },
    query: pageQuery({ default: 1000, max: 1000 }),
    answer: z.array(promptVersionSummary),
    errors: [400, 401, 403, 404, 500],
  }),
  'prompts.versions.read': endpoint({
    operationId: 'getPromptByVersion',
    summary: 'Show one version of a prompt',
    tag: 'Prompts',
    method: 'get',
    path: '/prompts/{promptId}/versions/{versionId}',
    access: { keys: anyKey, scopes: ['prompts.read'] },
    answer: prompt,
    errors: [400, 401, 403, 404, 500],
  }),
  'prompts.versions.update': endpoint({
    operationId: 'updatePromptVersion',
    summary: 'Label a version of a prompt',
    tag: 'Prompts',
    method: 'put',
    path: '/prompts/{promptId}/versions/{versionId}',
    access: { keys: anyKey, scopes: ['prompts.update'] },
    audit: { resourceType: 'prompts', action: 'update' },
    body: z.object({
      /** Null takes every label off the version. */
      label_id: z.uuid().nullish(),
    }),
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
  'prompts.publish': endpoint({
    operationId: 'updatePromptDefault',
    summary: 'Choose the version of a prompt that is used',
    tag: 'Prompts',
    method: 'put',
    path: '/prompts/{promptId}/makeDefault',
    access: { keys: anyKey, scopes: ['prompts.publish'] },
    audit: { resourceType: 'prompts', action: 'publish' },
    body: z.object({ version: versionNumber }),
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
  'prompts.completions': openEndpoint({
    operationId: 'createPromptCompletion',
    summary: 'Ask a model with a prompt',
    tag: 'Prompts',
    method: 'post',
    path: '/prompts/{promptId}/completions',
    plane: 'data',
    // What the request has beside them stands in the place of what was saved.
    body: z
      .object({
        variables: z.record(z.string(), z.unknown()),
        stream: z.boolean().default(false),
      })
      .catchall(z.unknown()),
    // The completion itself, as its clients read it; the published description has it within an envelope.
    answer: completionBody,
  }),
  'prompts.render': openEndpoint({
    operationId: 'createPromptRender',
    summary: 'Show the request that a prompt comes to, without sending it',
    tag: 'Prompts',
    method: 'post',
    path: '/prompts/{promptId}/render',
    plane: 'data',
    body: z.object({ variables: z.record(z.string(), z.unknown()) }).catchall(z.unknown()),
    answer: z.object({ success: z.boolean(), data: completionBody }),
  }),
  'prompts.share.create': endpoint({
    operationId: 'sharePrompt',
    summary: 'Share a prompt with workspaces',
    tag: 'Prompts',
    method: 'post',
    path: '/prompts/{promptId}/share',
    access: { keys: anyKey, scopes: ['prompts.update'] },
    audit: { resourceType: 'prompts', action: 'manage' },
    body: shareBody,
    answer: nothing,
  }),
  'prompts.share.update': endpoint({
    operationId: 'updatePromptShare',
    summary: 'Set the workspaces that a prompt is shared with',
    tag: 'Prompts',
    method: 'put',
    path: '/prompts/{promptId}/share',
    access: { keys: anyKey, scopes: ['prompts.update'] },
    audit: { resourceType: 'prompts', action: 'manage' },
    body: shareBody,
    answer: nothing,
  }),
  'prompts.share.delete': endpoint({
    operationId: 'unsharePrompt',
    summary: 'Share a prompt no longer',
    tag: 'Prompts',
    method: 'delete',
    path: '/prompts/{promptId}/share',
    access: { keys: anyKey, scopes: ['prompts.update'] },
    audit: { resourceType: 'prompts', action: 'manage' },
    answer: nothing,
  }),
  'prompts.fork': endpoint({
    operationId: 'forkPrompt',
    summary: 'Copy a prompt',
    tag: 'Prompts',
    method: 'post',
    path: '/prompts/{promptId}/fork',
    access: { keys: anyKey, scopes: ['prompts.create'] },
    audit: { resourceType: 'prompts', action: 'duplicate' },
    body: forkPromptBody,
    answer: createdPrompt,
  }),
};
