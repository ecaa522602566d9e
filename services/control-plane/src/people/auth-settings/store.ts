import type { JwtSettings, OidcSettings } from '@sluice/contracts/admin';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';

const columns = {
  id: true,
  jwtSettings: true,
  sealedJwtSecrets: true,
  oidcSettings: true,
  sealedOidcSecrets: true,
} as const;

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

export async function updateOidcSettings(
  db: Database,
  organisationId: string,
  change: { oidcSettings: OidcSettings | null; sealedOidcSecrets: Uint8Array<ArrayBuffer> | null },
  updatedAt: Date,
): Promise<void> {
  await db.organisation.update({
    where: { id: organisationId },
    data: {
      oidcSettings: change.oidcSettings ?? Prisma.DbNull,
      sealedOidcSecrets: change.sealedOidcSecrets,
      updatedAt,
    },
  });
}
