import { z } from 'zod';
import { emailField, emailText, instantText } from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { organisationKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { pageQuery } from '../kernel/paging.ts';
import { organisationRoles } from './roles.ts';

const user = z
  .object({
    object: z.literal('user'),
    id: z.uuid(),
    first_name: z.string(),
    last_name: z.string(),
    role: z.enum(organisationRoles),
    email: emailText,
    created_at: instantText,
    last_updated_at: instantText,
    /** UUIDs; of owners and admins, those of all workspaces. */
    workspace_ids: z.array(z.uuid()),
  })
  .register(shapeNames, { name: 'User' });

const listUsersQuery = z
  .object({ role: z.enum(organisationRoles).optional(), email: emailField.optional() })
  .and(pageQuery({ default: 100, max: 1000 }));

/** Nobody is made an owner, and an owner stays one. */
const updateUserBody = z.object({ role: z.enum(['admin', 'member']).optional() }).prefault({});

export const usersEndpoints = {
  'users.list': endpoint({
    operationId: 'getAdminUsers',
    summary: 'List users',
    tag: 'Users',
    method: 'get',
    path: '/admin/users',
    access: { keys: organisationKey, scopes: ['organisation_users.list'] },
    query: listUsersQuery,
    answer: z.object({ total: z.int(), object: z.literal('list'), data: z.array(user) }),
  }),
  'users.read': endpoint({
    operationId: 'getAdminUsersUserId',
    summary: 'Show one user',
    tag: 'Users',
    method: 'get',
    path: '/admin/users/{userId}',
    access: { keys: organisationKey, scopes: ['organisation_users.read'] },
    answer: user,
  }),
  'users.update': endpoint({
    operationId: 'putAdminUsersUserId',
    summary: 'Change a user’s role',
    tag: 'Users',
    method: 'put',
    path: '/admin/users/{userId}',
    access: { keys: organisationKey, scopes: ['organisation_users.update'] },
    audit: { resourceType: 'users', action: 'update' },
    body: updateUserBody,
    answer: nothing,
  }),
  'users.delete': endpoint({
    operationId: 'deleteAdminUsersUserId',
    summary: 'Remove a user from the organisation',
    tag: 'Users',
    method: 'delete',
    path: '/admin/users/{userId}',
    access: { keys: organisationKey, scopes: ['organisation_users.delete'] },
    audit: { resourceType: 'users', action: 'delete' },
    answer: nothing,
  }),
};
