import {
  type ChannelCredentials,
  credentials,
  experimental,
  type ServerCredentials,
} from '@grpc/grpc-js';
import type { ClientTls, ServerTls } from './tls.ts';

/** What a server of gRPC shows, also when it is renewed. @param asksClients who has no certificate of `clientCa` is not heard */
export function serverCredentials(tls: ServerTls, asksClients: boolean): ServerCredentials {
  const shown = new Provider(tls, ({ cert, key, clientCa }) => ({ cert, key, ca: clientCa }));
  // Ours comes first, as the types have it; the names of grpc-js 1.14 say the other way round.
  return experimental.createCertificateProviderServerCredentials(
    shown,
    asksClients ? shown : null,
    asksClients,
  );
}

/** The same of a client, which knows public authorities by Node's list. */
export function clientCredentials(tls: ClientTls): ChannelCredentials {
  if (tls.ca === undefined) return credentials.createSsl(null, tls.key ?? null, tls.cert ?? null);
  const shown = new Provider(tls, ({ cert, key, ca }) => ({ cert, key, ca }));
  return experimental.createCertificateProviderChannelCredentials(
    shown,
    tls.cert === undefined ? null : shown,
  );
}

interface Shown {
  readonly cert: Buffer | undefined;
  readonly key: Buffer | undefined;
  readonly ca: Buffer | undefined;
}

type CaListener = experimental.CaCertificateUpdateListener;
type IdentityListener = experimental.IdentityCertificateUpdateListener;

/**
 * As grpc-js asks for certificates: it tells listeners what there is, and again when it is renewed. The first time is in the next tick:
 * a server listens to its credentials only after these began to listen here.
 */
class Provider<T extends { renewals?: ((listener: (next: T) => void) => void) | undefined }>
  implements experimental.CertificateProvider
{
  #shown: Shown;
  readonly #ofCa = new Set<CaListener>();
  readonly #ofIdentity = new Set<IdentityListener>();

  constructor(tls: T, read: (tls: T) => Shown) {
    this.#shown = read(tls);
    tls.renewals?.((next) => {
      this.#shown = read(next);
      for (const listener of this.#ofIdentity) this.#tellIdentity(listener);
      for (const listener of this.#ofCa) this.#tellCa(listener);
    });
  }

  addCaCertificateListener(listener: CaListener): void {
    this.#ofCa.add(listener);
    process.nextTick(() => this.#tellCa(listener));
  }

  removeCaCertificateListener(listener: CaListener): void {
    this.#ofCa.delete(listener);
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    this.#ofIdentity.add(listener);
    process.nextTick(() => this.#tellIdentity(listener));
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.#ofIdentity.delete(listener);
  }

  #tellCa(listener: CaListener): void {
    const { ca } = this.#shown;
    listener(ca === undefined ? null : { caCertificate: ca });
  }

  #tellIdentity(listener: IdentityListener): void {
    const { cert, key } = this.#shown;
    listener(
      cert === undefined || key === undefined ? null : { certificate: cert, privateKey: key },
    );
  }
}
