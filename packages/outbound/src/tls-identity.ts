import { hash, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { GatewayError } from '@sluice/errors';
import { openKey } from './private-keys/open-key.ts';
import { readPem } from './private-keys/pem.ts';
import { PrivateKeyFault } from './private-keys/private-key-fault.ts';

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

/** Certificates of an identity, and the authorities it trusts: so much is read at once. */
const certificateCharsMax = 65_536;
const authoritiesCharsMax = 1_048_576;
const contextsMax = 200;
/** Opened once for all connections of an identity, however many pools they are spread over. The longest unused first. */
const contexts = new Map<string, SecureContext>();

/** @throws GatewayError `provider.setting_invalid` */
export function secureContextOf(identity: TlsIdentity): SecureContext {
  const context = contexts.get(identity.id) ?? openContext(identity);
  contexts.delete(identity.id);
  contexts.set(identity.id, context);
  if (contexts.size > contextsMax) contexts.delete(contexts.keys().next().value as string);
  return context;
}

function openContext({ ca, cert, key }: TlsIdentity): SecureContext {
  if ((cert === undefined) !== (key === undefined))
    throw unusable('tls_cert and tls_key belong together: one of them is missing.', undefined);
  if ((cert?.length ?? 0) > certificateCharsMax || charsOf(ca) > authoritiesCharsMax)
    throw unusable(
      `tls_cert may have ${certificateCharsMax} characters, tls_ca ${authoritiesCharsMax}.`,
      undefined,
    );
  const opened = key === undefined ? undefined : openTlsKey(String(key));
  try {
    return createSecureContext({
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(opened === undefined ? {} : { key: opened }),
    });
  } catch (cause) {
    throw unusable('tls_ca, tls_cert or tls_key of the provider cannot be used.', cause);
  }
}

/** Handshakes sign with it on the main thread, so its size is bounded like that of any key from outside. */
function openTlsKey(key: string): string {
  try {
    const opened = openKey(readPem(key), ['rsa', 'ec', 'ed25519']);
    return opened.export({ type: 'pkcs8', format: 'pem' }) as string;
  } catch (error) {
    if (!(error instanceof PrivateKeyFault)) throw error;
    throw unusable(`tls_key ${error.message}.`, undefined);
  }
}

/**
 * What of the settings `tls_ca`, `tls_cert` and `tls_key` every call would fail by, and why; undefined = nothing.
 * Authorities that cannot be read are none to Node, so that nobody would be trusted.
 */
export function faultOfTls(
  configurations: Readonly<Record<string, unknown>>,
): { setting: 'tls_ca' | 'tls_cert' | 'tls_key'; message: string } | undefined {
  const identity = readTlsIdentity(configurations);
  if (identity === undefined) return undefined;
  if (identity.ca !== undefined && !areCertificates(String(identity.ca)))
    return { setting: 'tls_ca', message: 'must have certificates, as PEM' };
  try {
    openContext(identity);
    return undefined;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const isOfKey = identity.cert === undefined || error.message.startsWith('tls_key');
    return { setting: isOfKey ? 'tls_key' : 'tls_cert', message: error.message };
  }
}

function areCertificates(pem: string): boolean {
  const found = pem.match(/-----BEGIN [A-Z0-9 ]*-----[^-]+-----END [A-Z0-9 ]*-----/g) ?? [];
  try {
    for (const each of found) new X509Certificate(each);
  } catch {
    return false;
  }
  return found.length > 0;
}

function charsOf(ca: TlsIdentity['ca']): number {
  const parts = ca === undefined ? [] : Array.isArray(ca) ? ca : [ca];
  return parts.reduce((sum, part) => sum + part.length, 0);
}

function unusable(message: string, cause: unknown): GatewayError {
  return new GatewayError('provider.setting_invalid', { field: 'tls_cert', message, cause });
}
