import type { GatewayError } from './gateway-error.ts';

/** Google's words for statuses: https://cloud.google.com/apis/design/errors, November 2026 */
const statuses: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [408, 'DEADLINE_EXCEEDED'],
  [409, 'ABORTED'],
  [413, 'INVALID_ARGUMENT'],
  [429, 'RESOURCE_EXHAUSTED'],
  [499, 'CANCELLED'],
  [500, 'INTERNAL'],
  [501, 'UNIMPLEMENTED'],
  [502, 'UNAVAILABLE'],
  [503, 'UNAVAILABLE'],
  [504, 'DEADLINE_EXCEEDED'],
]);

export function googleStatusOf(status: number): string {
  return statuses.get(status) ?? (status >= 500 ? 'INTERNAL' : 'FAILED_PRECONDITION');
}

/** What Google's `error.details` are made of: https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto */
const detail = (name: string, fields: object) => ({
  '@type': `type.googleapis.com/google.rpc.${name}`,
  ...fields,
});

/** Our code for programs: as a reason, which Google has in capitals, and as it is. */
export function googleErrorInfo(code: string, metadata: Readonly<Record<string, string>> = {}) {
  return detail('ErrorInfo', {
    reason: code.replaceAll('.', '_').toUpperCase(),
    domain: 'gateway',
    metadata: { code, ...metadata },
  });
}

/** An `error` of Google's: `{code, message, status, details}`. */
export function googleError(error: GatewayError, requestId: string): Record<string, unknown> {
  const { code, status, message, field, faults, headers } = error;
  const wait = headers?.['retry-after'];
  const violations =
    faults?.map((fault) => ({ field: fault.split(': ', 1)[0], description: fault })) ??
    (field === undefined ? [] : [{ field, description: message }]);
  const details = [googleErrorInfo(code, { request_id: requestId })];
  if (violations.length > 0) details.push(detail('BadRequest', { fieldViolations: violations }));
  if (wait !== undefined && /^\d+$/.test(wait))
    details.push(detail('RetryInfo', { retryDelay: `${wait}s` }));
  return { code: status, message, status: googleStatusOf(status), details };
}
