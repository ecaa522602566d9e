import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { instantText } from './fields.ts';
import { pageQuery } from './paging.ts';

const user = z.object({
  object: z.literal('user'),
  id: z.uuid(),
  first_name: z.string(),
  last_name: z.string(),
  role: z.enum(['admin', 'member', 'owner']),
  email: z.email(),
  created_at: instantText,
  last_updated_at: instantText,
  workspace_ids: z.array(z.string()),
});

const userList = z.object({
  total: z.int(),
  object: z.literal('list'),
  data: z.array(user),
});

export const usersEndpoints = {
  'users.list': endpoint({
    operationId: 'getAdminUsers',
    tag: 'Users',
    method: 'get',
    path: '/admin/users',
    query: z
      .object({
        role: z.enum(['admin', 'member', 'owner']).optional(),
        email: z.email().optional(),
      })
      .and(pageQuery({ default: 100, max: 1000 })),
    answer: userList,
  }),
  'users.read': endpoint({
    operationId: 'getAdminUsersUserId',
    tag: 'Users',
    method: 'get',
    path: '/admin/users/{userId}',
    answer: user,
  }),
  'users.update': endpoint({
    operationId: 'putAdminUsersUserId',
    tag: 'Users',
    method: 'put',
    path: '/admin/users/{userId}',
    body: z
      .object({
        role: z.enum(['admin', 'member']).optional(),
      })
      .prefault({}),
    answer: nothing,
  }),
  'users.delete': endpoint({
    operationId: 'deleteAdminUsersUserId',
    tag: 'Users',
    method: 'delete',
    path: '/admin/users/{userId}',
    answer: nothing,
  }),
};
