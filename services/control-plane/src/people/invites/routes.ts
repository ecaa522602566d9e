import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import { listEnvelope } from '../../kernel/http/shapes.ts';
import { cancelInvite, createInvite, reachInvite, resendInvite } from './operations.ts';
import { presentInvite } from './present.ts';
import { listInvites } from './store.ts';

export const inviteOperations = implementAll('invites', {
  list: async (call, { query }) => {
    const { organisationId } = call.caller;
    const { rows, total } = await listInvites(call.db, organisationId, query, query, call.now);
    return listEnvelope(
      rows.map((row) => presentInvite(row, call.now)),
      total,
    );
  },
  create: async (call, { body }) => {
    const { id, link } = await createInvite(call, body, call.base);
    return { id, invite_link: link };
  },
  read: async (call) =>
    presentInvite(await reachInvite(call, call.db, pathParameter(call, 'inviteId')), call.now),
  delete: (call) => cancelInvite(call, pathParameter(call, 'inviteId')),
  resend: async (call) => ({
    inviteLink: await resendInvite(call, pathParameter(call, 'inviteId'), call.base),
  }),
});
