import { z } from 'zod';
import { instantText, nameField, referenceField } from '../../fields/fields.ts';
import { keptOnly } from '../../fields/kept-only.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { organisationKey } from '../kernel/access.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { pageFromZeroQuery } from '../kernel/paging.ts';
import { workspaceRoles } from './roles.ts';

/** Roles of groups are written in any case. */
const roleField = z.string().toLowerCase().pipe(z.enum(workspaceRoles));

const mapping = z
  .object({
    id: z.uuid(),
    workspace_id: z.uuid(),
    scim_group: z.string(),
    scim_group_id: z.uuid(),
    role: z.enum(workspaceRoles),
  })
  .register(shapeNames, { name: 'ScimMapping' });

const pages = pageFromZeroQuery({ default: 100, max: 1000 });

/** Groups of this form say themselves which workspace and role they stand for. */
const mapsItself = /^ws-.+-role-.+$/i;

export const createScimMappingBody = z
  .object({
    workspace_id: referenceField,
    role: roleField,
    scim_group_id: z.uuid().toLowerCase().nullish(),
    scim_group_name: nameField
      .refine(
        (name) => !mapsItself.test(name),
        'has the form of groups that are mapped by their name',
      )
      .nullish(),
  })
  .refine((body) => body.scim_group_id != null || body.scim_group_name != null, {
    path: ['scim_group_name'],
    message: 'is required, or scim_group_id',
  })
  .refine((body) => body.scim_group_id == null || body.scim_group_name == null, {
    path: ['scim_group_id'],
    message: 'excludes scim_group_name',
  });

export const listScimMappingsQuery = z
  .object({
    workspace_id: referenceField.optional(),
    workspaceId: referenceField.optional(),
    scim_group_id: z.uuid().toLowerCase().optional(),
    scimGroupId: z.uuid().toLowerCase().optional(),
    role: roleField.optional(),
  })
  .and(pages);

export const scimEndpoints = {
  'scim-workspaces.list': endpoint({
    operationId: 'getScimWorkspaces',
    summary: 'List which groups become members of which workspaces',
    tag: 'Workspaces',
    method: 'get',
    path: '/scim/workspaces',
    access: { keys: organisationKey, scopes: ['organisation_settings.read'] },
    query: listScimMappingsQuery,
    answer: z.object({ mappings: z.array(mapping), total_count: z.int() }),
  }),
  'scim-workspaces.create': endpoint({
    operationId: 'postScimWorkspaces',
    summary: 'Make a group members of a workspace',
    tag: 'Workspaces',
    method: 'post',
    path: '/scim/workspaces',
    access: { keys: organisationKey, scopes: ['organisation_settings.update'] },
    audit: { resourceType: 'scim_mappings', action: 'create' },
    body: keptOnly(createScimMappingBody, 'nobody joins by SCIM, which is not spoken'),
    answer: mapping,
  }),
  'scim-workspaces.delete': endpoint({
    operationId: 'deleteScimWorkspacesScimWorkspaceGroupId',
    summary: 'Make a group members of a workspace no longer',
    tag: 'Workspaces',
    method: 'delete',
    path: '/scim/workspaces/{scimWorkspaceGroupId}',
    access: { keys: organisationKey, scopes: ['organisation_settings.update'] },
    audit: { resourceType: 'scim_mappings', action: 'delete' },
    answer: z.object({ success: z.literal(true) }),
  }),
  'scim-groups.list': endpoint({
    operationId: 'listScimGroups',
    summary: 'List the groups of the identity provider',
    tag: 'SCIM',
    method: 'get',
    path: '/scim/groups',
    access: { keys: organisationKey, scopes: ['organisation_settings.read'] },
    query: z.object({ search: z.string().max(255).optional() }).and(pages),
    answer: z.object({
      groups: z.array(
        z.object({
          id: z.uuid(),
          name: z.string(),
          created_at: instantText,
          last_updated_at: instantText,
        }),
      ),
      total_count: z.int(),
    }),
  }),
};
