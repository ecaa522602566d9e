import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { instantText, nameField, referenceField } from './fields.ts';
import { pageQuery, queryFlag } from './paging.ts';

const promptSummary = z.object({
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  collection_id: z.uuid(),
  model: z.string(),
  status: z.string(),
  created_at: instantText,
  last_updated_at: instantText,
  object: z.literal('prompt'),
});

const prompt = z.object({
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  collection_id: z.uuid(),
  string: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  prompt_version: z.number(),
  prompt_version_id: z.uuid(),
  prompt_version_status: z.enum(['active', 'archived']),
  prompt_version_description: z.string(),
  prompt_version_label_id: z.uuid(),
  virtual_key: z.string(),
  model: z.string(),
  functions: z.array(z.record(z.string(), z.unknown())),
  tools: z.array(z.record(z.string(), z.unknown())),
  tool_choice: z.record(z.string(), z.unknown()),
  template_metadata: z.record(z.string(), z.unknown()),
  is_raw_template: z.boolean(),
  status: z.string(),
  created_at: instantText,
  last_updated_at: instantText,
});

const promptVersionSummary = z.object({
  id: z.uuid(),
  prompt_id: z.uuid(),
  prompt_template: z.record(z.string(), z.unknown()),
  prompt_version: z.number(),
  prompt_description: z.string(),
  label_id: z.uuid(),
  created_at: instantText,
  status: z.enum(['active', 'archived']),
  object: z.literal('prompt'),
});

const createChatCompletionRequestInput = z.record(z.string(), z.unknown());

const createCompletionRequestInput = z.record(z.string(), z.unknown());

const createChatCompletionResponse = z.record(z.string(), z.unknown());

const createCompletionResponse = z.record(z.string(), z.unknown());

const createChatCompletionRequest = z.record(z.string(), z.unknown());

const createCompletionRequest = z.record(z.string(), z.unknown());

const promptRenderResponse = z.object({
  success: z.boolean(),
  data: z.union([createChatCompletionRequest, createCompletionRequest]),
});

export const promptsEndpoints = {
  'prompts.list': endpoint({
    operationId: 'listPrompts',
    tag: 'Prompts',
    method: 'get',
    path: '/prompts',
    query: z
      .object({
        collection_id: referenceField.optional(),
        workspace_id: referenceField.optional(),
        search: z.string().optional(),
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
    tag: 'Prompts',
    method: 'post',
    path: '/prompts',
    body: z.object({
      name: nameField,
      collection_id: referenceField,
      string: z.string(),
      parameters: z.record(z.string(), z.unknown()),
      functions: z.array(z.record(z.string(), z.unknown())).optional(),
      tools: z.array(z.record(z.string(), z.unknown())).optional(),
      tool_choice: z.record(z.string(), z.unknown()).optional(),
      model: z.string().optional(),
      virtual_key: z.string(),
      version_description: z.string().optional(),
      template_metadata: z.record(z.string(), z.unknown()).optional(),
      is_raw_template: z.literal([0, 1]).default(0),
    }),
    answer: z.object({
      id: z.uuid(),
      slug: z.string(),
      version_id: z.uuid(),
      object: z.literal('prompt'),
    }),
    errors: [400, 401, 403, 500],
  }),
  'prompts.read': endpoint({
    operationId: 'getPrompt',
    tag: 'Prompts',
    method: 'get',
    path: '/prompts/{promptId}',
    answer: prompt,
    errors: [400, 401, 403, 404, 500],
  }),
  'prompts.update': endpoint({
    operationId: 'updatePrompt',
    tag: 'Prompts',
    method: 'put',
    path: '/prompts/{promptId}',
    body: z.object({
      patch: z.boolean().optional(),
      name: nameField.optional(),
      collection_id: referenceField.optional(),
      string: z.string().optional(),
      parameters: z.record(z.string(), z.unknown()).optional(),
      model: z.string().optional(),
      virtual_key: z.string().optional(),
      version_description: z.string().optional(),
      functions: z.array(z.record(z.string(), z.unknown())).optional(),
      tools: z.array(z.record(z.string(), z.unknown())).optional(),
      tool_choice: z.record(z.string(), z.unknown()).optional(),
      is_raw_template: z.literal([0, 1]).optional(),
      prompt_metadata: z.record(z.string(), z.unknown()).optional(),
    }),
    answer: z.object({
      id: z.uuid(),
      slug: z.string(),
      prompt_version_id: z.uuid(),
    }),
    errors: [400, 401, 403, 404, 500],
  }),
  'prompts.delete': endpoint({
    operationId: 'deletePrompt',
    tag: 'Prompts',
    method: 'delete',
    path: '/prompts/{promptId}',
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
  'prompts.versions.list': endpoint({
    operationId: 'getPromptVersions',
    tag: 'Prompts',
    method: 'get',
    path: '/prompts/{promptId}/versions',
    answer: z.array(promptVersionSummary),
    errors: [400, 401, 403, 404, 500],
  }),
  'prompts.versions.read': endpoint({
    operationId: 'getPromptByVersion',
    tag: 'Prompts',
    method: 'get',
    path: '/prompts/{promptId}/versions/{versionId}',
    answer: prompt,
    errors: [400, 401, 403, 404, 500],
  }),
  'prompts.versions.update': endpoint({
    operationId: 'updatePromptVersion',
    tag: 'Prompts',
    method: 'put',
    path: '/prompts/{promptId}/versions/{versionId}',
    body: z.object({
      label_id: z.uuid().optional(),
    }),
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
  'prompts.publish': endpoint({
    operationId: 'updatePromptDefault',
    tag: 'Prompts',
    method: 'put',
    path: '/prompts/{promptId}/makeDefault',
    body: z.object({
      version: z.number(),
    }),
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
  'prompts.completions': endpoint({
    operationId: 'createPromptCompletion',
    tag: 'Prompts',
    method: 'post',
    path: '/prompts/{promptId}/completions',
    plane: 'data',
    body: z.object({
      variables: z.record(z.string(), z.unknown()),
      stream: z.boolean().default(false),
      hyperparameters: z
        .union([createChatCompletionRequestInput, createCompletionRequestInput])
        .optional(),
    }),
    answer: z.object({
      status: z.string(),
      headers: z.record(z.string(), z.unknown()),
      body: z.union([createChatCompletionResponse, createCompletionResponse]),
    }),
  }),
  'prompts.render': endpoint({
    operationId: 'createPromptRender',
    tag: 'Prompts',
    method: 'post',
    path: '/prompts/{promptId}/render',
    plane: 'data',
    body: z.object({
      variables: z.record(z.string(), z.unknown()),
      hyperparameters: z
        .union([createChatCompletionRequestInput, createCompletionRequestInput])
        .optional(),
    }),
    answer: promptRenderResponse,
  }),
  'prompts.share.create': endpoint({
    operationId: 'sharePrompt',
    tag: 'Prompts',
    method: 'post',
    path: '/prompts/{promptId}/share',
    body: z.record(z.string(), z.unknown()).prefault({}),
    answer: nothing,
  }),
  'prompts.share.update': endpoint({
    operationId: 'updatePromptShare',
    tag: 'Prompts',
    method: 'put',
    path: '/prompts/{promptId}/share',
    body: z.record(z.string(), z.unknown()).prefault({}),
    answer: nothing,
  }),
  'prompts.share.delete': endpoint({
    operationId: 'unsharePrompt',
    tag: 'Prompts',
    method: 'delete',
    path: '/prompts/{promptId}/share',
    answer: nothing,
  }),
  'prompts.fork': endpoint({
    operationId: 'forkPrompt',
    tag: 'Prompts',
    method: 'post',
    path: '/prompts/{promptId}/fork',
    body: z.record(z.string(), z.unknown()).prefault({}),
    answer: nothing,
  }),
};
