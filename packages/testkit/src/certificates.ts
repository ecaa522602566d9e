import { readFileSync } from 'node:fs';

/** A certificate or key of `certificates/`, whose README says what each is good for. */
export type CertificateName = 'authority' | 'server' | 'server-key' | 'client' | 'client-key';

/** Its PEM. */
export function testCertificate(name: CertificateName): string {
  return readFileSync(new URL(`../certificates/${name}.pem`, import.meta.url), 'utf8');
}
