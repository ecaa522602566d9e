import { z } from 'zod';
import { emailField, emailText, instantText, referenceField } from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { organisationKey } from '../kernel/access.ts';
import { endpoint, nothing, openEndpoint } from '../kernel/endpoint.ts';
import { pageQuery } from '../kernel/paging.ts';
import { scopesField } from './api-keys.ts';
import { workspaceRoles } from './roles.ts';

/** Owners are not invited. */
const inviteRole = z.enum(['admin', 'member']);
const inviteStatus = z.enum(['pending', 'cancelled', 'accepted', 'expired']);

const invite = z
  .object({
    object: z.literal('invite'),
    id: z.uuid(),
    email: emailText,
    role: inviteRole,
    created_at: instantText,
    expires_at: instantText,
    accepted_at: instantText.optional(),
    status: inviteStatus,
    invited_by: z.uuid().optional(),
    workspaces: z.array(z.object({ workspace_id: z.uuid(), role: z.enum(workspaceRoles) })),
  })
  .register(shapeNames, { name: 'Invite' });

export const createInviteBody = z.object({
  email: emailField,
  workspaces: z.array(z.object({ id: referenceField, role: z.enum(workspaceRoles) })).max(1000),
  role: inviteRole,
  workspace_api_key_details: z.object({ scopes: scopesField }).nullish(),
});

const personName = z.string().trim().max(255);

export const acceptInviteBody = z.object({
  token: z.string().max(128),
  first_name: personName.optional(),
  last_name: personName.optional(),
});

export const invitesEndpoints = {
  'invites.list': endpoint({
    operationId: 'getAdminUsersInvites',
    summary: 'List invites',
    tag: 'User-invites',
    method: 'get',
    path: '/admin/users/invites',
    access: { keys: organisationKey, scopes: ['organisation_users.list'] },
    query: z
      .object({
        role: inviteRole.optional(),
        email: emailField.optional(),
        status: inviteStatus.optional(),
      })
      .and(pageQuery({ default: 100, max: 1000 })),
    answer: z.object({ object: z.literal('list'), total: z.int(), data: z.array(invite) }),
  }),
  'invites.create': endpoint({
    operationId: 'Invites_create',
    summary: 'Invite a person',
    tag: 'User-invites',
    method: 'post',
    path: '/admin/users/invites',
    access: { keys: organisationKey, scopes: ['organisation_users.create'] },
    audit: { resourceType: 'invites', action: 'create' },
    body: createInviteBody,
    answer: z.object({ id: z.uuid(), invite_link: z.url() }),
  }),
  'invites.read': endpoint({
    operationId: 'getAdminUsersInvitesInviteId',
    summary: 'Show one invite',
    tag: 'User-invites',
    method: 'get',
    path: '/admin/users/invites/{inviteId}',
    access: { keys: organisationKey, scopes: ['organisation_users.read'] },
    answer: invite,
  }),
  'invites.delete': endpoint({
    operationId: 'deleteAdminUsersInvitesInviteId',
    summary: 'Withdraw an invite',
    tag: 'User-invites',
    method: 'delete',
    path: '/admin/users/invites/{inviteId}',
    access: { keys: organisationKey, scopes: ['organisation_users.delete'] },
    audit: { resourceType: 'invites', action: 'delete' },
    answer: nothing,
  }),
  'invites.resend': endpoint({
    operationId: 'postAdminUsersInvitesInviteIdResend',
    summary: 'Make the link of an invite anew',
    tag: 'User-invites',
    method: 'post',
    path: '/admin/users/invites/{inviteId}/resend',
    access: { keys: organisationKey, scopes: ['organisation_users.create'] },
    audit: { resourceType: 'invites', action: 'manage' },
    answer: z.object({ inviteLink: z.url() }),
  }),
  'invites.describe': openEndpoint({
    operationId: 'getAdminUsersInvitesAccept',
    summary: 'Show the page behind the link of an invite',
    added: 'what a person sees who opens the link of an invite',
    tag: 'User-invites',
    method: 'get',
    path: '/admin/users/invites/accept',
    plane: 'public',
    answer: z.object({ object: z.literal('invite-link'), message: z.string() }),
  }),
  'invites.accept': openEndpoint({
    operationId: 'postAdminUsersInvitesAccept',
    summary: 'Accept an invite',
    added: 'how an invite is accepted; none is published',
    tag: 'User-invites',
    method: 'post',
    path: '/admin/users/invites/accept',
    plane: 'public',
    audit: { resourceType: 'invites', action: 'accept' },
    body: acceptInviteBody,
    answer: z.object({
      user_id: z.uuid(),
      workspaces: z.array(z.object({ workspace_id: z.uuid(), role: z.enum(workspaceRoles) })),
      /** Shown this once. */
      api_keys: z.array(z.object({ workspace_id: z.uuid(), id: z.uuid(), key: z.string() })),
    }),
  }),
};
