import type { JwtSettings } from '@sluice/contracts/admin';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';

const columns = { id: true, jwtSettings: true, sealedJwtSecrets: true } as const;

export type AuthSettingsRow = Prisma.OrganisationGetPayload<{ select: typeof columns }>;

export function findAuthSettings(db: Database, organisationId: string) {
  return db.organisation.findUnique({ where: { id: organisationId }, select: columns });
}

export async function updateAuthSettings(
  db: Database,
  organisationId: string,
  change: { jwtSettings: JwtSettings | null; sealedJwtSecrets: Uint8Array<ArrayBuffer> | null },
  updatedAt: Date,
): Promise<void> {
  await db.organisation.update({
    where: { id: organisationId },
    data: {
      jwtSettings:
        change.jwtSettings === null
          ? Prisma.DbNull
          : (change.jwtSettings as unknown as Prisma.InputJsonObject),
      sealedJwtSecrets: change.sealedJwtSecrets,
      updatedAt,
    },
  });
}
