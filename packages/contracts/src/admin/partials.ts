import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { instantText, nameField, referenceField } from './fields.ts';

const promptPartialSummary = z.object({
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  collection_id: z.uuid(),
  created_at: instantText,
  last_updated_at: instantText,
  status: z.enum(['active', 'archived']),
  object: z.literal('partial'),
});

const promptPartial = z.object({
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  collection_id: z.uuid(),
  string: z.string(),
  version: z.number(),
  version_description: z.string(),
  prompt_partial_version_id: z.uuid(),
  created_at: instantText,
  last_updated_at: instantText,
  status: z.literal('active'),
});

const promptPartialVersion = z.object({
  prompt_partial_id: z.uuid(),
  prompt_partial_version_id: z.uuid(),
  slug: z.string(),
  version: z.string(),
  string: z.string(),
  description: z.string(),
  created_at: instantText,
  prompt_version_status: z.enum(['active', 'archived']),
  object: z.literal('partial'),
});

export const partialsEndpoints = {
  'partials.list': endpoint({
    operationId: 'listPromptPartials',
    tag: 'PromptPartials',
    method: 'get',
    path: '/prompts/partials',
    query: z.object({
      collection_id: referenceField.optional(),
    }),
    answer: z.array(promptPartialSummary),
    errors: [400, 401, 403, 404, 500],
  }),
  'partials.create': endpoint({
    operationId: 'createPromptPartial',
    tag: 'PromptPartials',
    method: 'post',
    path: '/prompts/partials',
    body: z.object({
      workspace_id: referenceField.optional(),
      name: nameField,
      string: z.string(),
      version_description: z.string().optional(),
    }),
    answer: z.object({
      id: z.uuid(),
      slug: z.string(),
      version_id: z.uuid(),
    }),
    errors: [400, 401, 403, 500],
  }),
  'partials.read': endpoint({
    operationId: 'getPromptPartial',
    tag: 'PromptPartials',
    method: 'get',
    path: '/prompts/partials/{promptPartialId}',
    answer: promptPartial,
    errors: [400, 401, 403, 404, 500],
  }),
  'partials.update': endpoint({
    operationId: 'updatePromptPartial',
    tag: 'PromptPartials',
    method: 'put',
    path: '/prompts/partials/{promptPartialId}',
    body: z.object({
      name: nameField.optional(),
      string: z.string().optional(),
      description: z.string().optional(),
      status: z.string().optional(),
    }),
    answer: z.object({
      prompt_partial_version_id: z.uuid(),
    }),
    errors: [400, 401, 403, 404, 500],
  }),
  'partials.delete': endpoint({
    operationId: 'deletePromptPartial',
    tag: 'PromptPartials',
    method: 'delete',
    path: '/prompts/partials/{promptPartialId}',
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
  'partials.versions.list': endpoint({
    operationId: 'getPromptPartialVersions',
    tag: 'PromptPartials',
    method: 'get',
    path: '/prompts/partials/{promptPartialId}/versions',
    answer: z.array(promptPartialVersion),
    errors: [400, 401, 403, 404, 500],
  }),
  'partials.publish': endpoint({
    operationId: 'updatePromptPartialDefault',
    tag: 'PromptPartials',
    method: 'put',
    path: '/prompts/partials/{promptPartialId}/makeDefault',
    body: z.object({
      version: z.number(),
    }),
    answer: nothing,
    errors: [400, 401, 403, 404, 500],
  }),
};
