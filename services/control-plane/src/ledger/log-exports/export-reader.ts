import type { LogReader } from '@sluice/log-content';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../../kernel/access/caller.ts';
import type { LogExportRow } from './store.ts';

/** What is kept of whoever starts an export, so that it shows what they may see. */
export function storedReader(caller: Caller): Prisma.InputJsonObject {
  const { keyId, userId, scopes, seesOwnDataOnly } = caller;
  return {
    keyId,
    ...(userId !== undefined && { userId }),
    scopes: [...scopes].filter((scope) => scope.startsWith('logs.')),
    seesOwnDataOnly,
  };
}

/** As the ledger and the store are asked: an export is of one workspace, whoever started it. */
export function readerOf({ reader, organisationId, workspaceId }: LogExportRow): LogReader {
  const { keyId, userId, scopes, seesOwnDataOnly } = reader as Prisma.JsonObject;
  return {
    organisationId,
    workspaceId,
    keyId: String(keyId),
    userId: typeof userId === 'string' ? userId : undefined,
    // To export logs is to list them. To look into them is more, also here.
    scopes: new Set([...(scopes as string[]), 'logs.list']),
    seesOwnDataOnly: seesOwnDataOnly === true,
  };
}
