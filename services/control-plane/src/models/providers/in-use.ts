import { GatewayError } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';

/** Who names a provider: `config pc-main`, `prompt pp-hello`. Documents know it, which stand on this domain. */
export type UsersOfProvider = (
  db: Database,
  provider: { workspaceId: string; slug: string },
) => Promise<readonly string[]>;

/**
 * Requests of whoever names a provider fail once it is gone: it stays while there are any.
 * @param force it goes all the same, and the answer lists them
 * @throws 400 that lists them
 */
export async function refuseWhileNamed(
  call: AdminRequest,
  db: Database,
  provider: { workspaceId: string; slug: string },
  { force, usersOf }: { force: boolean; usersOf: UsersOfProvider },
): Promise<void> {
  const users = await usersOf(db, provider);
  if (users.length === 0) return;
  const said = `The provider @${provider.slug} is named by ${users.join(', ')}`;
  if (!force)
    throw new GatewayError('admin.refused', {
      message: `${said}. Change those first, or remove it all the same with ?force=true.`,
    });
  call.notes.warnings.push(`${said}, whose requests fail now.`);
}
