import { GatewayError } from '@sluice/errors';

/** What is wrong with a config, and where: `configFault('config.targets[0].config', 'names no config')`. */
export function configFault(field: string, what: string): GatewayError {
  return new GatewayError('config.invalid', {
    message: `${field} ${what}.`,
    field,
    faults: [`path: ${field}, message: ${what}`],
  });
}
