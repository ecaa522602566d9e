import { implementPublic, type PublicOperation } from '../../kernel/http/public-operation.ts';
import type { ProvisionUserKey } from '../api-keys/provision-user-key.ts';
import { acceptInvite } from './accept.ts';

/** What the invited person does: they have no key yet, only the link. */
export function publicInviteOperations(provision: ProvisionUserKey): readonly PublicOperation[] {
  return [
    implementPublic('invites.describe', async () => ({
      object: 'invite-link' as const,
      message:
        'To accept the invite, POST {"token", "first_name", "last_name"} as JSON to this address; the token is the one in the link.',
    })),
    implementPublic('invites.accept', (call, body) => acceptInvite(call, body, provision)),
  ];
}
