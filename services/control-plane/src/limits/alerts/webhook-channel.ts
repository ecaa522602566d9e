import { GatewayError } from '@sluice/errors';
import type { GuardedFetch } from '@sluice/outbound';
import { type Logger, Outage } from '@sluice/telemetry';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import type { Database } from '../../kernel/database/client.ts';
import { findAlertSettings, openWebhook } from '../alert-settings/settings.ts';
import { type AlertChannel, NotTaken } from './deliver-alert.ts';
import { signWebhook } from './sign-webhook.ts';

const timeoutMs = 10_000;

/** To the webhook that the organisation has when it is sent, if it has one. */
export function webhookChannel(parts: {
  client: Database;
  vault: CredentialVault;
  fetch: GuardedFetch;
  now: () => Date;
  logger: Logger;
}): AlertChannel {
  const { client, vault, fetch, now, logger } = parts;
  /** By organisation, of those that have had an alert. */
  const outages = new Map<string, Outage>();
  return {
    name: 'webhook',
    outageOf(organisation) {
      const known = outages.get(organisation);
      if (known !== undefined) return known;
      const away = 'a webhook takes no alerts';
      const back = 'a webhook takes alerts again';
      // What is wrong here is no fault of the receiver's.
      const isOutage = (error: unknown) =>
        error instanceof NotTaken || error instanceof GatewayError;
      const made = new Outage({ logger, away, back, facts: { organisation }, isOutage });
      outages.set(organisation, made);
      return made;
    },
    async send({ id, body, organisationId }) {
      const settings = await findAlertSettings(client, organisationId);
      const webhook = settings === null ? undefined : openWebhook(vault, settings);
      if (webhook === undefined) return;
      const { status, headers, close } = await fetch.stream(webhook.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...signWebhook({ id, body }, webhook.secret, now()),
        },
        body,
        signal: AbortSignal.timeout(timeoutMs),
        bytesMax: 0,
      });
      // It has heard of it, whatever it goes on to say.
      close();
      if (status >= 200 && status < 300) return;
      const waitMs = retryAfterMs(headers['retry-after'], now().getTime());
      throw new NotTaken(`the webhook answered ${status}`, waitMs);
    },
  };
}

/** Of seconds or a date; 0 = it says nothing. */
function retryAfterMs(value: string | undefined, nowMs: number): number {
  if (value === undefined) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Math.max(0, ms || 0);
}
