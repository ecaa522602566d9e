import { z } from 'zod';
import { createConfigBody, updateConfigBody } from './configs.ts';
import { endpoint, nothing } from './endpoint.ts';
import { instantText } from './fields.ts';

export const configsEndpoints = {
  'configs.list': endpoint({
    operationId: 'listConfigs',
    tag: 'Configs',
    method: 'get',
    path: '/configs',
    answer: z.object({
      success: z.boolean(),
      data: z.array(
        z.object({
          id: z.uuid(),
          name: z.string(),
          slug: z.string(),
          organisation_id: z.uuid(),
          workspace_id: z.uuid(),
          is_default: z.int(),
          status: z.string(),
          owner_id: z.uuid(),
          updated_by: z.uuid(),
          created_at: instantText,
          last_updated_at: instantText,
        }),
      ),
    }),
  }),
  'configs.create': endpoint({
    operationId: 'createConfig',
    tag: 'Configs',
    method: 'post',
    path: '/configs',
    body: createConfigBody,
    answer: z.object({
      success: z.boolean(),
      data: z.object({
        id: z.uuid(),
        version_id: z.uuid(),
      }),
    }),
  }),
  'configs.read': endpoint({
    operationId: 'getConfig',
    tag: 'Configs',
    method: 'get',
    path: '/configs/{slug}',
    answer: z.object({
      success: z.boolean(),
      data: z.object({
        config: z.object({
          retry: z.object({
            attempts: z.int(),
            on_status_codes: z.array(z.int()),
          }),
          cache: z.object({
            mode: z.string(),
            max_age: z.int(),
          }),
          strategy: z.object({
            mode: z.string(),
          }),
          targets: z.array(
            z.object({
              provider: z.string(),
              virtual_key: z.string(),
            }),
          ),
        }),
      }),
    }),
  }),
  'configs.update': endpoint({
    operationId: 'updateConfig',
    tag: 'Configs',
    method: 'put',
    path: '/configs/{slug}',
    body: updateConfigBody,
    answer: z.object({
      success: z.boolean(),
      data: z.object({
        version_id: z.uuid(),
      }),
    }),
  }),
  'configs.delete': endpoint({
    operationId: 'deleteConfig',
    tag: 'Configs',
    method: 'delete',
    path: '/configs/{slug}',
    answer: nothing,
  }),
  'configs.versions': endpoint({
    operationId: 'listConfigVersions',
    tag: 'Configs',
    method: 'get',
    path: '/configs/{slug}/versions',
    answer: z.object({
      object: z.string(),
      total: z.int(),
      data: z.array(
        z.object({
          id: z.uuid(),
          name: z.string(),
          workspace_id: z.uuid(),
          slug: z.string(),
          organisation_id: z.uuid(),
          is_default: z.int(),
          status: z.string(),
          owner_id: z.uuid(),
          updated_by: z.uuid(),
          created_at: instantText,
          last_updated_at: instantText,
          config: z.string(),
          format: z.string(),
          type: z.string(),
          version_id: z.uuid(),
          object: z.string(),
        }),
      ),
    }),
  }),
};
