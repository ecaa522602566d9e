import { hash } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { GatewayError } from '@sluice/errors';

/** What identifies us to an upstream, or an upstream to us, beyond the system's defaults. */
export interface TlsIdentity {
  /** Names the identity: connections are shared only within one. */
  id: string;
  /** In place of the authorities that Node trusts. */
  ca?: string | Buffer | (string | Buffer)[];
  cert?: string | Buffer;
  key?: string | Buffer;
}

/**
 * The identity in a saved provider's settings `tls_ca`, `tls_cert` and `tls_key`
 * (PEM). Read from nowhere else: a caller must not choose whom we trust.
 */
export function readTlsIdentity(
  configurations: Readonly<Record<string, unknown>>,
): TlsIdentity | undefined {
  const ca = pem(configurations.tls_ca ?? configurations.tlsCa);
  const cert = pem(configurations.tls_cert ?? configurations.tlsCert);
  const key = pem(configurations.tls_key ?? configurations.tlsKey);
  if (ca === undefined && cert === undefined && key === undefined) return undefined;
  return {
    id: hash('sha256', JSON.stringify([ca, cert, key]), 'base64url'),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

/** A PEM may have passed through a form that wrote its line ends out. */
function pem(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== ''
    ? value.replaceAll('\\n', '\n')
    : undefined;
}

/**
 * Parsed once for all connections of an identity.
 * @throws GatewayError `provider.setting_invalid`
 */
export function secureContextOf({ ca, cert, key }: TlsIdentity): SecureContext {
  if ((cert === undefined) !== (key === undefined))
    throw unusable('tls_cert and tls_key belong together: one of them is missing.', undefined);
  try {
    return createSecureContext({
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    });
  } catch (cause) {
    throw unusable('tls_ca, tls_cert or tls_key of the provider cannot be used.', cause);
  }
}

function unusable(message: string, cause: unknown): GatewayError {
  return new GatewayError('provider.setting_invalid', { field: 'tls_cert', message, cause });
}
