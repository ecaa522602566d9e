import { type ErrorCode, errorCodes } from './codes.ts';

/** Anthropic's kinds of errors, with the status of each: https://docs.claude.com/en/api/errors */
const statuses: ReadonlyMap<string, number> = new Map(
  Object.entries({
    invalid_request_error: 400,
    authentication_error: 401,
    billing_error: 402,
    permission_error: 403,
    not_found_error: 404,
    conflict_error: 409,
    request_too_large: 413,
    rate_limit_error: 429,
    api_error: 500,
    timeout_error: 504,
    overloaded_error: 529,
  }),
);
const types: ReadonlyMap<number, string> = new Map([
  ...[...statuses].map(([type, status]) => [status, type] as const),
  [408, 'timeout_error'],
  [503, 'overloaded_error'],
]);

/** The status an error of this kind has as a plain answer. */
export function statusOfAnthropicType(type: string): number {
  return statuses.get(type) ?? 500;
}

export function anthropicTypeOfStatus(status: number): string {
  return types.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/**
 * The kind that Anthropic's clients are told a refusal of ours as. What a provider
 * did is told by its status: neither our word for that nor another vendor's is one
 * that they know.
 */
export function anthropicTypeOf(error: { type: string; status: number; code?: string }): string {
  const { type, status, code } = error;
  const isProviders =
    code === undefined || errorCodes[code as ErrorCode]?.type === 'upstream_error';
  return isProviders ? anthropicTypeOfStatus(status) : type;
}
