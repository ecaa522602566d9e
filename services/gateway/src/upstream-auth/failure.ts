import { GatewayError } from '@sluice/errors';

/**
 * Why there is no authorisation. `step` says where it went wrong and `what`
 * how; neither may hold a secret, nor text of the other side, which may repeat one.
 */
export function authorisationFailed(step: string, what: string, cause?: unknown): GatewayError {
  return new GatewayError('provider.authorisation_failed', { message: `${step} ${what}.`, cause });
}

/** A setting that this way of authorisation cannot do without. */
export function settingMissing(name: string, purpose: string): GatewayError {
  return new GatewayError('provider.setting_missing', {
    field: `x-service-${name}`,
    message: `${purpose} needs the setting ${name}.`,
  });
}

export function settingInvalid(name: string, what: string): GatewayError {
  return new GatewayError('provider.setting_invalid', {
    field: `x-service-${name}`,
    message: `The setting ${name} ${what}.`,
  });
}

/** An identifier the other side gave for its error, where it looks like one. */
export function errorName(value: unknown): string {
  return typeof value === 'string' && /^[A-Za-z][A-Za-z0-9_.:-]{0,63}$/.test(value)
    ? ` (${value})`
    : '';
}
