import type { AlertWebhook } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import { Prisma } from '../../generated/prisma/client.ts';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { guardKeptSecrets } from '../../kernel/credentials/guard-kept-secrets.ts';
import {
  fieldOf,
  keepMasked,
  maskValue,
  type Path,
} from '../../kernel/credentials/secret-fields.ts';
import { bytes } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';

const table = 'organisations';
const secretCharsMin = 16;
const columns = { id: true, alertSettings: true, sealedAlertKeys: true } as const;

export type AlertSettingsRow = Prisma.OrganisationGetPayload<{ select: typeof columns }>;

/** As they are kept: what may be shown, and the secret sealed beside it. */
export function findAlertSettings(
  db: Database,
  organisationId: string,
): Promise<AlertSettingsRow | null> {
  return db.organisation.findUnique({ where: { id: organisationId }, select: columns });
}

export function shownWebhook({ alertSettings }: AlertSettingsRow): AlertWebhook | null {
  return alertSettings as AlertWebhook | null;
}

/** With its secret in clear; undefined = alerts go nowhere. */
export function openWebhook(
  vault: CredentialVault,
  row: AlertSettingsRow,
): AlertWebhook | undefined {
  const shown = shownWebhook(row);
  if (shown === null || row.sealedAlertKeys === null) return undefined;
  const secret = vault.open(Buffer.from(row.sealedAlertKeys), { table, id: row.id });
  return { ...shown, secret };
}

export async function putWebhook(
  db: Database,
  vault: CredentialVault,
  organisationId: string,
  webhook: AlertWebhook | null,
): Promise<void> {
  await db.organisation.update({
    where: { id: organisationId },
    data:
      webhook === null
        ? { alertSettings: Prisma.DbNull, sealedAlertKeys: null }
        : {
            alertSettings: { ...webhook, secret: maskValue(webhook.secret) },
            sealedAlertKeys: bytes(vault.seal(webhook.secret, { table, id: organisationId })),
          },
  });
}

/**
 * The webhook that is meant by who sends back a secret as it was shown to them:
 * the one that is kept, which stays with its address.
 * @throws 400 for a secret that is too short, and `admin.secret_required` when the address changes
 */
export function withKeptSecret(sent: AlertWebhook, before: AlertWebhook | undefined): AlertWebhook {
  const secret = keepMasked(before?.secret ?? '', sent.secret, 'body.webhook.secret');
  if (secret.length < secretCharsMin)
    throw invalidField('body.webhook.secret', `must have ${secretCharsMin} characters at least`);
  const meant = { ...sent, secret };
  guardKeptSecrets(before === undefined ? [] : [holderOf(before)], [holderOf(meant)], sent);
  return meant;
}

function holderOf(webhook: AlertWebhook) {
  return {
    document: { webhook },
    shown: { webhook: { ...webhook, secret: maskValue(webhook.secret) } },
    fieldOf: (path: Path) => fieldOf('body', path),
  };
}
