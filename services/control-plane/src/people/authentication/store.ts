import { bytes } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';

const person = { include: { memberships: true } } as const;

/** The secret with this hash, its key, and who stands behind the key. */
export function findKeyByHash(db: Database, hash: Buffer) {
  return db.apiKeySecret.findUnique({
    where: { hash: bytes(hash) },
    include: {
      apiKey: {
        include: {
          organisation: { select: { settings: true } },
          workspace: true,
          config: true,
          user: person,
          createdBy: person,
        },
      },
    },
  });
}
