import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

/** PEM of a certificate and its key. */
export interface IssuedCertificate {
  readonly cert: string;
  readonly key: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const dayMs = 86_400_000;
/** Clocks of nodes differ a little. */
const earlierMs = 5 * 60_000;

/** An authority of this installation's own. */
export async function makeAuthority(
  name: string,
  { now, days }: { now: Date; days: number },
): Promise<IssuedCertificate> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: randomBytes(16).toString('hex'),
      name: `CN=${name}`,
      notBefore: new Date(now.getTime() - earlierMs),
      notAfter: new Date(now.getTime() + days * dayMs),
      signingAlgorithm: algorithm,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
          true,
        ),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto as never),
      ],
    },
    webcrypto as never,
  );
  return { cert: certificate.toString('pem'), key: await pemOf(keys.privateKey) };
}

/** A certificate of a service, as a server under these names and as a client of the others. */
export async function issueCertificate(
  authority: IssuedCertificate,
  names: readonly string[],
  { now, days }: { now: Date; days: number },
): Promise<IssuedCertificate> {
  const issuer = new x509.X509Certificate(authority.cert);
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: randomBytes(16).toString('hex'),
      // No common name: names may be longer than the 64 characters of one.
      subject: 'O=Sluice',
      issuer: issuer.subject,
      notBefore: new Date(now.getTime() - earlierMs),
      notAfter: new Date(Math.min(now.getTime() + days * dayMs, issuer.notAfter.getTime())),
      signingAlgorithm: algorithm,
      publicKey: keys.publicKey,
      signingKey: await webcrypto.subtle.importKey(
        'pkcs8',
        x509.PemConverter.decodeFirst(authority.key),
        algorithm,
        false,
        ['sign'],
      ),
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([
          x509.ExtendedKeyUsage.serverAuth,
          x509.ExtendedKeyUsage.clientAuth,
        ]),
        new x509.SubjectAlternativeNameExtension(
          names.map((value) => ({ type: 'dns' as const, value })),
        ),
        await x509.AuthorityKeyIdentifierExtension.create(issuer, false, webcrypto as never),
      ],
    },
    webcrypto as never,
  );
  return { cert: certificate.toString('pem'), key: await pemOf(keys.privateKey) };
}

/** Whether a certificate is good for these names, by this authority, for a third of its life at least. */
export function isFresh(
  cert: string,
  authority: string,
  names: readonly string[],
  now: Date,
): boolean {
  const { notBefore, notAfter, issuer, extensions } = new x509.X509Certificate(cert);
  const life = notAfter.getTime() - notBefore.getTime();
  const has = extensions.find((each) => each instanceof x509.SubjectAlternativeNameExtension);
  const named = new Set(has?.names.items.map(({ value }) => value));
  return (
    notAfter.getTime() - now.getTime() > life / 3 &&
    issuer === new x509.X509Certificate(authority).subject &&
    names.every((name) => named.has(name))
  );
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
