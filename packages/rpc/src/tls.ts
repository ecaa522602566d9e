import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { SettingsError } from '@sluice/env';

/** What `tlsSettings` of `@sluice/env` reads. Paths of PEM files, and PEM itself. */
export interface TlsSettings {
  TLS_CERT_PATH: string | undefined;
  TLS_KEY_PATH: string | undefined;
  TLS_CA_PATH: string | undefined;
  TLS_CERT?: string | undefined;
  TLS_KEY?: string | undefined;
  TLS_CA?: string | undefined;
}

/** Tells of what takes the place of certificates while a service runs: new connections are made with it, those that stand go on. */
export type Renewals<T> = (listener: (next: T) => void) => void;

/** Our own certificate and key, and the authority that signed the other side's; PEM. */
export interface ServerTls {
  cert: Buffer;
  key: Buffer;
  /** Clients without a certificate of this authority are not heard. */
  clientCa?: Buffer | undefined;
  /** Absent = they stay what they are. */
  renewals?: Renewals<ServerTls>;
}

export interface ClientTls {
  ca?: Buffer | undefined;
  cert?: Buffer | undefined;
  key?: Buffer | undefined;
  /** Absent = they stay what they are. */
  renewals?: Renewals<ClientTls>;
}

/** @throws SettingsError when only one of certificate and key is there, or they do not belong together. */
export function serverTls(settings: TlsSettings): ServerTls | undefined {
  const cert = readPem('TLS_CERT_PATH', settings.TLS_CERT_PATH);
  const key = readPem('TLS_KEY_PATH', settings.TLS_KEY_PATH);
  const clientCa = readPem('TLS_CA_PATH', settings.TLS_CA_PATH);
  checkPair({ cert, key, ca: clientCa });
  return cert === undefined || key === undefined ? undefined : { cert, key, clientCa };
}

/**
 * As a client: `TLS_CERT`, `TLS_KEY` and `TLS_CA`, which default to what the
 * server uses. Undefined = plaintext.
 * @throws SettingsError as above.
 */
export function clientTls(settings: TlsSettings): ClientTls | undefined {
  const own = settings.TLS_CERT !== undefined || settings.TLS_KEY !== undefined;
  const cert = own ? asBuffer(settings.TLS_CERT) : readPem('TLS_CERT_PATH', settings.TLS_CERT_PATH);
  const key = own ? asBuffer(settings.TLS_KEY) : readPem('TLS_KEY_PATH', settings.TLS_KEY_PATH);
  const ca = asBuffer(settings.TLS_CA) ?? readPem('TLS_CA_PATH', settings.TLS_CA_PATH);
  checkPair({ cert, key, ca });
  return cert === undefined && ca === undefined ? undefined : { ca, cert, key };
}

/** Certificates alone, for whoever takes them as they are. */
export function pemOf({ ca, cert, key }: ClientTls): Pick<ClientTls, 'ca' | 'cert' | 'key'> {
  return { ca, cert, key };
}

/** What connections are made with, made anew when the certificates are renewed. */
export function renewed<T>(tls: ClientTls, make: (tls: ClientTls) => T): () => T {
  let made = make(pemOf(tls));
  tls.renewals?.((next) => {
    made = make(pemOf(next));
  });
  return () => made;
}

function checkPair(tls: ClientTls): void {
  if ((tls.cert === undefined) !== (tls.key === undefined))
    throw new SettingsError([
      'TLS: a certificate and its key are needed both (TLS_CERT_PATH and TLS_KEY_PATH, or TLS_CERT and TLS_KEY).',
    ]);
  try {
    createSecureContext(tls);
  } catch (cause) {
    // The library's message names what is wrong with the PEM, never its content.
    throw new SettingsError([
      `TLS: what TLS_CERT_PATH, TLS_KEY_PATH, TLS_CA_PATH, TLS_CERT, TLS_KEY or TLS_CA hold cannot be used: ${(cause as Error).message}`,
    ]);
  }
}

function readPem(name: string, path: string | undefined): Buffer | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path);
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new SettingsError([`${name} names ${path}, which cannot be read (${code}).`]);
  }
}

function asBuffer(pem: string | undefined): Buffer | undefined {
  return pem === undefined ? undefined : Buffer.from(pem);
}
