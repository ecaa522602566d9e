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

/** Columns of either kind of settings. */
export type AuthData = Pick<
  Prisma.OrganisationUpdateInput,
  'jwtSettings' | 'sealedJwtSecrets' | 'oidcSettings' | 'sealedOidcSecrets'
>;

export function jwtData(change: {
  jwtSettings: JwtSettings | null;
  sealedJwtSecrets: Uint8Array<ArrayBuffer> | null;
}): AuthData {
  return {
    jwtSettings:
      change.jwtSettings === null
        ? Prisma.DbNull
        : (change.jwtSettings as unknown as Prisma.InputJsonObject),
    sealedJwtSecrets: change.sealedJwtSecrets,
  };
}

export function oidcData(change: {
  oidcSettings: OidcSettings | null;
  sealedOidcSecrets: Uint8Array<ArrayBuffer> | null;
}): AuthData {
  return {
    oidcSettings: change.oidcSettings ?? Prisma.DbNull,
    sealedOidcSecrets: change.sealedOidcSecrets,
  };
}

export async function updateAuthSettings(
  db: Database,
  organisationId: string,
  data: AuthData,
  updatedAt: Date,
): Promise<void> {
  await db.organisation.update({ where: { id: organisationId }, data: { ...data, updatedAt } });
}
