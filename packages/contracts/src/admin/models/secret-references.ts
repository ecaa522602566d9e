import { z } from 'zod';
import {
  hostField,
  instantText,
  nameField,
  referenceField,
  slugField,
  tagsField,
} from '../../fields/fields.ts';
import { keptOnly } from '../../fields/kept-only.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { organisationKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { pageQuery, tagsQuery } from '../kernel/paging.ts';

const managerTypes = ['aws_sm', 'azure_kv', 'hashicorp_vault'] as const;
export type SecretManagerType = (typeof managerTypes)[number];

const setting = z.string().trim().min(1).max(1024);
/** Taken as it is: a space may be part of a secret. */
const secret = z.string().min(1).max(8192);

const vaultServer = {
  vault_addr: hostField,
  vault_namespace: setting.optional(),
};

/** How to sign in to each kind of secret manager. */
export const secretManagerAuth = {
  aws_sm: z.discriminatedUnion('aws_auth_type', [
    z.object({
      aws_auth_type: z.literal('accessKey'),
      aws_access_key_id: secret,
      aws_secret_access_key: secret,
      aws_region: setting,
    }),
    z.object({
      aws_auth_type: z.literal('assumedRole'),
      aws_role_arn: setting,
      aws_external_id: setting.nullish(),
      aws_region: setting,
    }),
    z.object({
      aws_auth_type: z.literal('serviceRole'),
      aws_region: setting.optional(),
    }),
  ]),
  azure_kv: z.discriminatedUnion('azure_auth_mode', [
    z.object({
      azure_auth_mode: z.literal('entra'),
      azure_entra_tenant_id: setting,
      azure_entra_client_id: setting,
      azure_entra_client_secret: secret,
      azure_vault_url: hostField,
    }),
    z.object({
      azure_auth_mode: z.literal('managed'),
      azure_managed_client_id: setting.optional(),
      azure_vault_url: hostField,
    }),
    z.object({
      azure_auth_mode: z.literal('default'),
      azure_vault_url: hostField,
    }),
  ]),
  hashicorp_vault: z.discriminatedUnion('vault_auth_type', [
    z.object({
      vault_auth_type: z.literal('token'),
      vault_token: secret,
      ...vaultServer,
    }),
    z.object({
      vault_auth_type: z.literal('approle'),
      vault_role_id: secret,
      vault_secret_id: secret,
      ...vaultServer,
    }),
    z.object({
      vault_auth_type: z.literal('kubernetes'),
      vault_role: setting,
      ...vaultServer,
    }),
  ]),
} as const satisfies Record<SecretManagerType, z.ZodType>;

const description = z.string().max(1024).nullable();
const secretPath = z.string().trim().min(1).max(1024);
const secretKey = z.string().min(1).max(255).nullable();
const allowedWorkspaces = z.array(referenceField).min(1).max(1000);

const newReference = z.object({
  organisation_id: z.uuid().optional(),
  name: nameField,
  slug: slugField.optional(),
  description: description.optional(),
  secret_path: secretPath,
  secret_key: secretKey.optional(),
  allow_all_workspaces: z.boolean().optional(),
  allowed_workspaces: allowedWorkspaces.optional(),
  tags: tagsField.nullish(),
});

function opensToAllAndSome(body: {
  allow_all_workspaces?: boolean | undefined;
  allowed_workspaces?: unknown;
}): boolean {
  return body.allow_all_workspaces === true && body.allowed_workspaces !== undefined;
}

const openToAllAndSome = {
  path: ['allow_all_workspaces'],
  message: 'cannot be true while allowed_workspaces is given',
};

const createBody = z
  .discriminatedUnion('manager_type', [
    newReference.extend({
      manager_type: z.literal('aws_sm'),
      auth_config: secretManagerAuth.aws_sm,
    }),
    newReference.extend({
      manager_type: z.literal('azure_kv'),
      auth_config: secretManagerAuth.azure_kv,
    }),
    newReference.extend({
      manager_type: z.literal('hashicorp_vault'),
      auth_config: secretManagerAuth.hashicorp_vault,
    }),
  ])
  .refine((body) => !opensToAllAndSome(body), openToAllAndSome)
  .refine((body) => body.allow_all_workspaces !== false || body.allowed_workspaces !== undefined, {
    path: ['allowed_workspaces'],
    message: 'is required when allow_all_workspaces is false',
  });

const updateBody = z
  .object({
    name: nameField.optional(),
    description: description.optional(),
    auth_config: z.record(z.string().max(128), z.unknown()).optional(),
    secret_path: secretPath.optional(),
    secret_key: secretKey.optional(),
    allow_all_workspaces: z.boolean().optional(),
    allowed_workspaces: allowedWorkspaces.optional(),
    tags: tagsField.nullish(),
  })
  .refine((body) => Object.keys(body).length > 0, 'names nothing that can be changed')
  .refine((body) => !opensToAllAndSome(body), openToAllAndSome);

const listItem = z
  .object({
    id: z.uuid(),
    name: z.string(),
    slug: z.string(),
    manager_type: z.enum(managerTypes),
    status: z.literal('ACTIVE'),
    created_at: instantText,
    last_updated_at: instantText,
    object: z.literal('secret-reference'),
  })
  .register(shapeNames, { name: 'SecretReferenceSummary' });

const detail = listItem
  .extend({
    organisation_id: z.uuid(),
    description: z.string().nullable(),
    secret_path: z.string(),
    secret_key: z.string().nullable(),
    allow_all_workspaces: z.boolean(),
    /** Ours: who may use one that is not open to all. */
    allowed_workspaces: z.array(z.uuid()).optional(),
    tags: z.record(z.string(), z.string()).nullable(),
    created_by: z.string(),
    /** Secrets appear as `masked_<name>`. */
    auth_config: z.record(z.string(), z.string()),
  })
  .register(shapeNames, { name: 'SecretReference' });

export const secretReferencesEndpoints = {
  'secret-references.list': endpoint({
    operationId: 'listSecretReferences',
    summary: 'List references to secrets in your own store',
    tag: 'Secret-References',
    method: 'get',
    path: '/secret-references',
    access: { keys: organisationKey, scopes: ['secret_references.list'] },
    query: z
      .object({
        manager_type: z.enum(managerTypes).optional(),
        tags: tagsQuery.optional(),
        search: z.string().min(1).max(255).optional(),
      })
      .and(pageQuery({ default: 20, max: 100 })),
    answer: z.object({
      object: z.literal('list'),
      total: z.int(),
      data: z.array(listItem),
    }),
  }),
  'secret-references.create': endpoint({
    operationId: 'createSecretReference',
    summary: 'Refer to a secret in your own store',
    tag: 'Secret-References',
    method: 'post',
    path: '/secret-references',
    access: { keys: organisationKey, scopes: ['secret_references.create'] },
    audit: { resourceType: 'secret_references', action: 'create' },
    body: keptOnly(createBody, 'secret managers are not asked'),
    answer: z.object({
      id: z.uuid(),
      slug: z.string(),
      object: z.literal('secret-reference'),
    }),
    errors: [400, 403],
  }),
  'secret-references.read': endpoint({
    operationId: 'getSecretReference',
    summary: 'Show one reference to a secret',
    tag: 'Secret-References',
    method: 'get',
    path: '/secret-references/{secretReferenceId}',
    access: { keys: organisationKey, scopes: ['secret_references.read'] },
    answer: detail,
    errors: [404],
  }),
  'secret-references.update': endpoint({
    operationId: 'updateSecretReference',
    summary: 'Change a reference to a secret',
    tag: 'Secret-References',
    method: 'put',
    path: '/secret-references/{secretReferenceId}',
    access: { keys: organisationKey, scopes: ['secret_references.update'] },
    audit: { resourceType: 'secret_references', action: 'update' },
    body: updateBody,
    answer: nothing,
    errors: [400, 404],
  }),
  'secret-references.delete': endpoint({
    operationId: 'deleteSecretReference',
    summary: 'Delete a reference to a secret',
    tag: 'Secret-References',
    method: 'delete',
    path: '/secret-references/{secretReferenceId}',
    access: { keys: organisationKey, scopes: ['secret_references.delete'] },
    audit: { resourceType: 'secret_references', action: 'delete' },
    answer: nothing,
    errors: [400, 404],
  }),
};
