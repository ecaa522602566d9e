import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { instantText } from './fields.ts';
import { pageQuery } from './paging.ts';

const invite = z.object({
  object: z.string(),
  id: z.uuid(),
  email: z.email(),
  role: z.enum(['admin', 'member']),
  created_at: instantText,
  expires_at: instantText,
  accepted_at: instantText,
  status: z.enum(['pending', 'cancelled', 'accepted', 'expired']),
  invited_by: z.uuid(),
});

const inviteList = z.object({
  object: z.literal('list'),
  total: z.int(),
  data: z.array(invite),
});

const workspaceInviteRoleInput = z.enum(['admin', 'member', 'manager']);

const workspaceInviteInput = z.object({
  id: z.string(),
  role: workspaceInviteRoleInput,
});

const inviteRoleInput = z.enum(['admin', 'member']);

const createInviteInput = z.object({
  email: z.string(),
  workspaces: z.array(workspaceInviteInput),
  role: inviteRoleInput,
  workspace_api_key_details: z
    .object({
      scopes: z.array(z.string()),
    })
    .optional(),
});

const successInvite = z.object({
  id: z.string(),
  invite_link: z.string(),
});

export const invitesEndpoints = {
  'invites.list': endpoint({
    operationId: 'getAdminUsersInvites',
    tag: 'User-invites',
    method: 'get',
    path: '/admin/users/invites',
    query: z
      .object({
        role: z.enum(['admin', 'member']).optional(),
        email: z.email().optional(),
        status: z.enum(['pending', 'cancelled', 'accepted', 'expired']).optional(),
      })
      .and(pageQuery({ default: 100, max: 1000 })),
    answer: inviteList,
  }),
  'invites.create': endpoint({
    operationId: 'Invites_create',
    tag: 'User-invites',
    method: 'post',
    path: '/admin/users/invites',
    body: createInviteInput,
    answer: successInvite,
  }),
  'invites.read': endpoint({
    operationId: 'getAdminUsersInvitesInviteId',
    tag: 'User-invites',
    method: 'get',
    path: '/admin/users/invites/{inviteId}',
    answer: invite,
  }),
  'invites.delete': endpoint({
    operationId: 'deleteAdminUsersInvitesInviteId',
    tag: 'User-invites',
    method: 'delete',
    path: '/admin/users/invites/{inviteId}',
    answer: nothing,
  }),
  'invites.resend': endpoint({
    operationId: 'postAdminUsersInvitesInviteIdResend',
    tag: 'User-invites',
    method: 'post',
    path: '/admin/users/invites/{inviteId}/resend',
    answer: z.object({
      inviteLink: z.string(),
    }),
  }),
};
