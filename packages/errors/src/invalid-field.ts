import { GatewayError } from './gateway-error.ts';

/** A 400 about one field, for faults that no schema shows. */
export function invalidField(field: string, message: string): GatewayError {
  return new GatewayError('admin.validation', { field, message: `${field}: ${message}` });
}
