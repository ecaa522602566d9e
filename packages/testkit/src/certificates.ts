import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** A certificate or key of `certificates/`, whose README says what each is good for. */
export type CertificateName =
  | 'authority'
  | `${'server' | 'client' | 'stranger' | 'expired' | 'self-signed'}${'' | '-key'}`;

/** Its PEM. */
export function testCertificate(name: CertificateName): string {
  return readFileSync(testCertificatePath(name), 'utf8');
}

export function testCertificatePath(name: CertificateName): string {
  return resolve(import.meta.dirname, '../certificates', `${name}.pem`);
}
