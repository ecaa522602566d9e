import { issuerUnavailable } from './faults.ts';
import { type FetchKeys, type KeySource, RemoteKeys } from './key-source.ts';
import { jsonObject } from './token.ts';

export interface IssuerKeysOptions {
  /** As tokens name it in `iss`. */
  readonly issuer: string;
  /** Of its keys; undefined = its metadata says so. */
  readonly jwksUri: string | undefined;
  readonly fetch: FetchKeys;
  readonly now: () => number;
}

const maxAgeMs = 24 * 3_600_000;
const timeoutMs = 3_000;
const bytesMax = 64 * 1024;
const pauseMs = 2_000;

/** The keys of an issuer that publishes where they are (RFC 8414, OpenID Connect Discovery): looked for once, and then as others. */
export class IssuerKeys implements KeySource {
  readonly #options: IssuerKeysOptions;
  #keys: RemoteKeys | undefined;
  #underWay: Promise<RemoteKeys> | undefined;
  #askAgainAtMs = 0;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
    if (options.jwksUri !== undefined) this.#keys = this.#at(options.jwksUri);
  }

  get document(): string | undefined {
    return this.#keys?.document;
  }

  async find(kid: string, algorithm: string) {
    const keys = this.#keys ?? (await this.#discover());
    return keys.find(kid, algorithm);
  }

  /** One look at a time, whoever asks. @throws GatewayError `auth.issuer_unavailable` */
  #discover(): Promise<RemoteKeys> {
    if (this.#underWay === undefined && this.#options.now() < this.#askAgainAtMs)
      throw issuerUnavailable();
    this.#underWay ??= this.#look()
      .then((jwksUri) => {
        this.#keys = this.#at(jwksUri);
        return this.#keys;
      })
      .catch((error: unknown) => {
        this.#askAgainAtMs = this.#options.now() + pauseMs;
        throw issuerUnavailable(error);
      })
      .finally(() => {
        this.#underWay = undefined;
      });
    return this.#underWay;
  }

  async #look(): Promise<string> {
    const { issuer, fetch } = this.#options;
    for (const place of metadataPlaces(issuer)) {
      const { status, body } = await fetch(place, {
        headers: { accept: 'application/json' },
        timeoutMs,
        bytesMax,
      });
      if (status !== 200) continue;
      const metadata = jsonObject(body.toString());
      // What another wrote says nothing of this one's keys (RFC 8414 §3.3).
      if (metadata?.issuer !== issuer) throw new Error(`The metadata at ${place} is of another.`);
      const uri = metadata.jwks_uri;
      const isPlain = URL.parse(issuer)?.protocol === 'http:';
      const protocol = typeof uri === 'string' ? URL.parse(uri)?.protocol : undefined;
      if (typeof uri !== 'string' || !(protocol === 'https:' || (isPlain && protocol === 'http:')))
        throw new Error(`The metadata at ${place} names no keys.`);
      return uri;
    }
    throw new Error(`${issuer} publishes no metadata.`);
  }

  #at(url: string): RemoteKeys {
    const { fetch, now } = this.#options;
    return new RemoteKeys({ url, maxAgeMs, fetch, now });
  }
}

/** In the order in which clients look for them. */
function metadataPlaces(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    ...(path === '' ? [] : [`${origin}${path}/.well-known/openid-configuration`]),
  ];
}
