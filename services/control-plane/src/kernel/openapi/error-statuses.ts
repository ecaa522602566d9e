import { type Endpoint, type ErrorForm, errorFormOf } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import { nearestAdvice } from '../names/nearest.ts';

const unpublished = [400, 401, 403, 404, 409, 500];
/** Beside what policies, guardrails and providers refuse with, which is any other. */
const ofGateway = [400, 401, 403, 404, 413, 500];

/**
 * The statuses that an operation refuses with. Whatever is published, a call
 * that needs a key can lack it or its scope, and input can be wrong.
 */
export function errorStatuses(endpoint: Endpoint): readonly number[] {
  const statuses = new Set(
    endpoint.errors ?? (errorFormOf(endpoint) === 'gateway' ? ofGateway : unpublished),
  );
  if (endpoint.plane !== 'public') statuses.add(401).add(403);
  // What an operation does not take is refused, even where it takes nothing.
  if (endpoint.errorForm !== 'text') statuses.add(400);
  if (endpoint.body !== undefined) statuses.add(413);
  // A create under an `idempotency-key`.
  if (endpoint.method === 'post' && endpoint.access !== undefined)
    for (const status of [409, 422, 429]) statuses.add(status);
  // The database or the ledger is away.
  return [...statuses.add(500).add(503)].sort((one, other) => one - other);
}

/** What is refused most often with a status, for the description of the API. @throws for a status that has none */
export function exampleOfStatus(status: number, form: ErrorForm): GatewayError {
  const example = (form === 'gateway' ? examplesOfGateway[status] : undefined) ?? examples[status];
  if (example === undefined) throw new Error(`No error stands for status ${status}.`);
  return example();
}

const unknownField = `body.rate_limit: is no field here${nearestAdvice('rate_limit', ['rate_limits'])}`;

const examples: Readonly<Record<number, () => GatewayError>> = {
  400: () =>
    new GatewayError('admin.validation', {
      message: unknownField,
      field: 'body.rate_limit',
      faults: [unknownField],
    }),
  401: () => new GatewayError('auth.missing_key'),
  403: () => new GatewayError('auth.missing_scope'),
  404: () => new GatewayError('admin.not_found'),
  409: () => new GatewayError('admin.conflict'),
  410: () => new GatewayError('admin.export_gone'),
  413: () => new GatewayError('request.too_large'),
  422: () => new GatewayError('admin.idempotency_key_reused'),
  429: () => new GatewayError('admin.idempotency_keys_max'),
  500: () => new GatewayError('internal'),
  503: () => new GatewayError('admin.control_plane_unavailable'),
};

const examplesOfGateway: Readonly<Record<number, () => GatewayError>> = {
  400: () =>
    new GatewayError('request.invalid_field', {
      message: 'body.variables: must be an object.',
      field: 'body.variables',
    }),
  404: () =>
    new GatewayError('prompt.not_found', {
      message: 'Invalid prompt id: no prompt "pp-greeting" is in this workspace.',
      field: 'path.promptId',
    }),
  503: () => new GatewayError('auth.unavailable'),
};
