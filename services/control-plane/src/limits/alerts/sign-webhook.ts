import { createHmac } from 'node:crypto';

/** Secrets are written so where they are bytes; others are taken as the text they are. */
const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/** Headers by which a receiver knows who sent it, when, and whether it has it already (standardwebhooks.com). */
export function signWebhook(
  { id, body }: { id: string; body: string },
  secret: string,
  now: Date,
): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const bytes = encoded.exec(secret)?.[1];
  const key = bytes === undefined ? Buffer.from(secret) : Buffer.from(bytes, 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}
