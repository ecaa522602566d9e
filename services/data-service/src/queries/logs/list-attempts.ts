import { create } from '@bufbuild/protobuf';
import { GatewayError } from '@sluice/errors';
import { analytics } from '@sluice/proto-stubs';
import { Parameters } from '../parameters.ts';
import type { Reader } from '../questions.ts';
import { type Allowed, allowedRows } from './allowed-rows.ts';
import { checkUuid, clockSlipMs, instant, isId, longestRequestMs, msOfId } from './id-time.ts';
import { listAdjusted } from './list-adjusted.ts';
import { listLateHooks } from './list-late-hooks.ts';
import { readAttempts } from './read-attempts.ts';

/** Every attempt of a request or of a trace, as far as they may be seen, with what was added to their costs. */
export async function listAttempts(
  client: Reader,
  asked: Allowed & { requestId: string; traceId: string },
): Promise<analytics.ListAttemptsResponse> {
  const parameters = new Parameters();
  const conditions = [...allowedRows(asked, parameters), ...whatIsAsked(asked, parameters)];
  const { attempts, isCutOff } = await readAttempts(client, conditions, parameters);
  const [lateHooks, adjusted] = await Promise.all([
    listLateHooks(client, asked.organisationId, attempts),
    listAdjusted(client, asked.organisationId, attempts),
  ]);
  return create(analytics.ListAttemptsResponseSchema, { attempts, isCutOff, lateHooks, adjusted });
}

function whatIsAsked(
  { requestId, traceId }: { requestId: string; traceId: string },
  parameters: Parameters,
): string[] {
  if (requestId !== '') {
    checkUuid(requestId, 'request_id');
    const ms = msOfId(requestId);
    return [
      `created_at >= ${instant(ms - clockSlipMs, parameters)}`,
      // Calls that its checks made are of the time at which they were made.
      `created_at <= ${instant(ms + longestRequestMs, parameters)}`,
      isId('request_id', requestId, parameters),
    ];
  }
  if (traceId !== '') return [`trace_id = ${parameters.bind('String', traceId)}`];
  throw new GatewayError('admin.validation', {
    field: 'request_id',
    message: 'request_id or trace_id must be given.',
  });
}
