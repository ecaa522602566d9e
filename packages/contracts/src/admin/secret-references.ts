import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { instantText, nameField, slugField } from './fields.ts';
import { pageQuery } from './paging.ts';

const secretReferenceListItem = z.object({
  id: z.uuid(),
  name: z.string(),
  slug: z.string(),
  manager_type: z.enum(['aws_sm', 'azure_kv', 'hashicorp_vault']),
  status: z.literal('ACTIVE'),
  created_at: instantText,
  last_updated_at: instantText,
  object: z.literal('secret-reference'),
});

const awsAccessKeyAuthConfigInput = z.object({
  aws_auth_type: z.literal('accessKey'),
  aws_access_key_id: z.string(),
  aws_secret_access_key: z.string(),
  aws_region: z.string(),
});

const awsAssumedRoleAuthConfigInput = z.object({
  aws_auth_type: z.literal('assumedRole'),
  aws_role_arn: z.string(),
  aws_external_id: z.string().nullable().optional(),
  aws_region: z.string(),
});

const awsServiceRoleAuthConfigInput = z.object({
  aws_auth_type: z.literal('serviceRole'),
  aws_region: z.string().optional(),
});

const azureEntraAuthConfigInput = z.object({
  azure_auth_mode: z.literal('entra'),
  azure_entra_tenant_id: z.string(),
  azure_entra_client_id: z.string(),
  azure_entra_client_secret: z.string(),
  azure_vault_url: z.string(),
});

const azureManagedAuthConfigInput = z.object({
  azure_auth_mode: z.literal('managed'),
  azure_managed_client_id: z.string().optional(),
  azure_vault_url: z.string(),
});

const azureDefaultAuthConfigInput = z.object({
  azure_auth_mode: z.literal('default'),
  azure_vault_url: z.string(),
});

const hashicorpTokenAuthConfigInput = z.object({
  vault_auth_type: z.literal('token'),
  vault_addr: z.string(),
  vault_token: z.string(),
  vault_namespace: z.string().optional(),
});

const hashicorpAppRoleAuthConfigInput = z.object({
  vault_auth_type: z.literal('approle'),
  vault_addr: z.string(),
  vault_role_id: z.string(),
  vault_secret_id: z.string(),
  vault_namespace: z.string().optional(),
});

const hashicorpKubernetesAuthConfigInput = z.object({
  vault_auth_type: z.literal('kubernetes'),
  vault_addr: z.string(),
  vault_role: z.string(),
  vault_namespace: z.string().optional(),
});

const createSecretReferenceRequestInput = z.object({
  organisation_id: z.uuid().optional(),
  name: nameField,
  slug: slugField.optional(),
  description: z.string().max(1024).nullable().optional(),
  manager_type: z.enum(['aws_sm', 'azure_kv', 'hashicorp_vault']),
  auth_config: z.union([
    awsAccessKeyAuthConfigInput,
    awsAssumedRoleAuthConfigInput,
    awsServiceRoleAuthConfigInput,
    azureEntraAuthConfigInput,
    azureManagedAuthConfigInput,
    azureDefaultAuthConfigInput,
    hashicorpTokenAuthConfigInput,
    hashicorpAppRoleAuthConfigInput,
    hashicorpKubernetesAuthConfigInput,
  ]),
  secret_path: z.string().max(1024),
  secret_key: z.string().max(255).nullable().optional(),
  allow_all_workspaces: z.boolean().default(true),
  allowed_workspaces: z.array(z.string()).min(1).optional(),
  tags: z.record(z.string(), z.string()).nullable().optional(),
});

const secretReferenceDetailResponse = z.object({
  id: z.uuid(),
  organisation_id: z.uuid(),
  name: z.string(),
  slug: z.string(),
  description: z.string().nullable(),
  manager_type: z.enum(['aws_sm', 'azure_kv', 'hashicorp_vault']),
  secret_path: z.string(),
  secret_key: z.string().nullable(),
  allow_all_workspaces: z.boolean(),
  tags: z.record(z.string(), z.string()).nullable(),
  status: z.literal('ACTIVE'),
  created_by: z.string(),
  created_at: instantText,
  last_updated_at: instantText,
  auth_config: z.record(z.string(), z.unknown()),
  object: z.literal('secret-reference'),
});

const updateSecretReferenceRequestInput = z.object({
  name: nameField.optional(),
  description: z.string().max(1024).nullable().optional(),
  auth_config: z.record(z.string(), z.unknown()).optional(),
  secret_path: z.string().max(1024).optional(),
  secret_key: z.string().max(255).nullable().optional(),
  allow_all_workspaces: z.boolean().optional(),
  allowed_workspaces: z.array(z.string()).min(1).optional(),
  tags: z.record(z.string(), z.string()).nullable().optional(),
});

export const secretReferencesEndpoints = {
  'secret-references.list': endpoint({
    operationId: 'listSecretReferences',
    tag: 'Secret-References',
    method: 'get',
    path: '/secret-references',
    query: z
      .object({
        manager_type: z.enum(['aws_sm', 'azure_kv', 'hashicorp_vault']).optional(),
        tags: z.string().optional(),
        search: z.string().min(1).max(255).optional(),
      })
      .and(pageQuery({ default: 20, max: 100 })),
    answer: z.object({
      object: z.literal('list'),
      total: z.int(),
      data: z.array(secretReferenceListItem),
    }),
  }),
  'secret-references.create': endpoint({
    operationId: 'createSecretReference',
    tag: 'Secret-References',
    method: 'post',
    path: '/secret-references',
    body: createSecretReferenceRequestInput,
    answer: z.object({
      id: z.uuid(),
      slug: z.string(),
      object: z.literal('secret-reference'),
    }),
    errors: [400, 403],
  }),
  'secret-references.read': endpoint({
    operationId: 'getSecretReference',
    tag: 'Secret-References',
    method: 'get',
    path: '/secret-references/{secretReferenceId}',
    answer: secretReferenceDetailResponse,
    errors: [404],
  }),
  'secret-references.update': endpoint({
    operationId: 'updateSecretReference',
    tag: 'Secret-References',
    method: 'put',
    path: '/secret-references/{secretReferenceId}',
    body: updateSecretReferenceRequestInput,
    answer: nothing,
    errors: [400, 404],
  }),
  'secret-references.delete': endpoint({
    operationId: 'deleteSecretReference',
    tag: 'Secret-References',
    method: 'delete',
    path: '/secret-references/{secretReferenceId}',
    answer: nothing,
    errors: [400, 404],
  }),
};
