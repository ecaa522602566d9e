import type { Change } from '../../kernel/database/change.ts';
import { findUserKeyIds, removeApiKeys } from './store.ts';

/** The user keys of a person: everywhere, or in one workspace. */
export interface KeysOfPerson {
  readonly userId: string;
  readonly workspaceId?: string;
}

/** What the person may do has changed, so gateways must ask for their keys again. */
export async function touchUserKeys(change: Change, whose: KeysOfPerson): Promise<void> {
  for (const id of await findUserKeyIds(change.db, whose)) change.touchKey(id);
}

/** Removes them; gateways stop taking them at once. Returns their ids. */
export async function removeUserKeys(change: Change, whose: KeysOfPerson): Promise<string[]> {
  const ids = await findUserKeyIds(change.db, whose);
  await removeApiKeys(change.db, ids);
  for (const id of ids) change.touchKey(id);
  return ids;
}
