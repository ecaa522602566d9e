import type { AlertWebhook } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { HostRules } from '@sluice/outbound';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import type { Database } from '../../kernel/database/client.ts';
import { checkAddress } from '../../kernel/http/check-address.ts';
import { implementAll } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { instant } from '../../kernel/http/shapes.ts';
import {
  type AlertSettingsRow,
  findAlertSettings,
  openWebhook,
  putWebhook,
  shownWebhook,
  withKeptSecret,
} from './settings.ts';
import { findUndelivered } from './undelivered.ts';

export interface AlertSettingsParts {
  vault: CredentialVault;
  hostRules: HostRules;
}

/** Where an organisation is told that a budget nears its end. */
export function alertSettingsOperations(parts: AlertSettingsParts) {
  return implementAll('organisation.alert-settings', {
    read: async (call) => {
      const [row, undelivered] = await Promise.all([
        ownRow(call, call.db),
        findUndelivered(call.db, call.caller.organisationId),
      ]);
      const webhook = shownWebhook(row);
      if (webhook === null || undelivered === undefined) return { webhook };
      return {
        webhook: { ...webhook, undelivered: { ...undelivered, since: instant(undelivered.since) } },
      };
    },
    update: (call, { body }) => changeWebhook(call, body.webhook, parts),
  });
}

function changeWebhook(
  call: AdminRequest,
  sent: AlertWebhook | null,
  { vault, hostRules }: AlertSettingsParts,
): Promise<void> {
  if (sent !== null) checkAddress(sent.url, 'body.webhook.url', hostRules);
  return call.change(async ({ db, describe }) => {
    const row = await ownRow(call, db);
    const webhook = sent === null ? null : withKeptSecret(sent, openWebhook(vault, row));
    await putWebhook(db, vault, row.id, webhook);
    const changed = await ownRow(call, db);
    describe({
      resourceId: row.id,
      before: { alert_webhook: shownWebhook(row) },
      after: { alert_webhook: shownWebhook(changed) },
    });
  });
}

async function ownRow(call: AdminRequest, db: Database): Promise<AlertSettingsRow> {
  const row = await findAlertSettings(db, call.caller.organisationId);
  if (row === null) throw new GatewayError('admin.not_found');
  return row;
}
