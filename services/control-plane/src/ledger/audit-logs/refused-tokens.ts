import type { RefusalReport } from '@sluice/jwt';
import { maskText } from '../../kernel/credentials/mask.ts';
import { commitChange } from '../../kernel/database/change.ts';
import type { DatabaseClient } from '../../kernel/database/client.ts';

const samplesMax = 5;
const textMax = 512;

/** Writes down that tokens were refused: one entry for all that came together, the first of them in its own fields. */
export async function recordRefusedTokens(
  client: DatabaseClient,
  report: RefusalReport,
  now: Date,
): Promise<void> {
  const samples = report.samples.slice(0, samplesMax);
  const first = samples[0];
  if (first === undefined) return;
  await commitChange(
    client,
    {
      organisationId: report.organisationId,
      timestamp: now,
      method: cut(first.method),
      uri: cut(first.path),
      requestId: cut(first.requestId),
      requestBody: '',
      queryParams: '',
      requestHeaders: '',
      userId: null,
      userType: 'user',
      apiKeyId: null,
      responseStatusCode: first.status,
      resourceType: 'jwt',
      action: 'authenticate',
      clientIp: cut(first.clientIp),
      detail: {
        count: report.count,
        tokens: samples.map((sample) => ({
          token: cut(sample.token),
          reason: cut(sample.reason),
          subject: cut(sample.subject),
          client_ip: cut(sample.clientIp),
          request_id: cut(sample.requestId),
        })),
      },
    },
    async () => {},
  );
}

/** Whoever sent the token chose some of these texts: no key of ours in them, no end to them, nothing Postgres cannot hold. */
function cut(text: string): string {
  return maskText(text).replaceAll('\0', '').toWellFormed().slice(0, textMax);
}
