import type { BodyOf, QueryOf } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { withMore } from '../../kernel/http/shapes.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import type { RegistryKind } from './registry-kind.ts';
import { changeServer } from './servers.ts';
import type { ServerRow } from './tables.ts';
import {
  listUserAccess,
  overridesOf,
  setDefaultUserAccess,
  setUserAccess,
  type UserAccessRow,
  usersWithin,
} from './user-access-store.ts';

/** Who of the workspace may call a server. */
export async function listAccess(
  call: AdminRequest,
  kind: RegistryKind,
  server: ServerRow,
  query: QueryOf<'mcp-servers.user-access.list'>,
) {
  const { rows, total } = await listUserAccess(call.db, kind, server, query.search, query);
  return {
    ...withMore(
      rows.map((row) => presentAccess(row, server)),
      total,
      query,
    ),
    default_user_access: server.defaultUserAccess as 'allow' | 'deny',
  };
}

function presentAccess(row: UserAccessRow, server: ServerRow) {
  return {
    user_id: row.userId,
    first_name: row.firstName === '' ? null : row.firstName,
    last_name: row.lastName === '' ? null : row.lastName,
    enabled: row.override ?? server.defaultUserAccess === 'allow',
    has_override: row.override !== undefined,
  };
}

/** Sets what counts for everyone, and exceptions from it. */
export function changeAccess(
  call: AdminRequest,
  kind: RegistryKind,
  reference: string,
  body: BodyOf<'mcp-servers.user-access.update'>,
): Promise<void> {
  return changeServer(call, kind, reference, async ({ db, describe }, server) => {
    const isAllowed = server.defaultUserAccess === 'allow';
    const named = body.user_access ?? [];
    const users = await usersWithin(db, server, named.map((entry) => entry.user_id).filter(isUuid));
    const stranger = named.findIndex((entry) => !users.has(entry.user_id.toLowerCase()));
    if (stranger >= 0)
      throw invalidField(`body.user_access[${stranger}].user_id`, 'is no user of this workspace');
    const state = async (byDefault: string) => ({
      default_user_access: byDefault,
      user_access: await overridesOf(db, kind, server.id),
    });
    const before = await state(server.defaultUserAccess);
    // Whoever sends back what the default was shown to be for a user makes no exception of it.
    const said = named.filter(
      (entry) => entry.has_override !== false || entry.enabled !== isAllowed,
    );
    const access = new Map(said.map((entry) => [entry.user_id.toLowerCase(), entry.enabled]));
    await setUserAccess(db, kind, server.id, access, call.now);
    const byDefault = body.default_user_access ?? server.defaultUserAccess;
    if (body.default_user_access !== undefined)
      await setDefaultUserAccess(db, kind, server.id, body.default_user_access, call.now);
    describe({ before, after: await state(byDefault) });
  });
}
