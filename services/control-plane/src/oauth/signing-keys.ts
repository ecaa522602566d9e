import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import { promisify } from 'node:util';
import { SettingsError } from '@sluice/env';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import type { DatabaseClient } from '../kernel/database/client.ts';
import {
  deleteSigningKeys,
  insertSigningKey,
  listSigningKeys,
  type SigningKeyRow,
} from './store.ts';

/** What access tokens are signed with, and what everybody may check them with. */
export interface SigningKeys {
  /** Of the key in use. */
  readonly id: string;
  /** The key in use, private. */
  readonly jwk: JsonWebKey;
  /** All that tokens which still work may be signed with, and the one that comes next. */
  readonly publicJwks: readonly JsonWebKey[];
}

export interface SigningKeyParts {
  client: DatabaseClient;
  vault: CredentialVault;
  now: () => Date;
  /** PEM of an RSA key that the operator gave: it signs, and none is made. */
  given: string | undefined;
  /** After which the next one is made. */
  lastsMs: number;
}

/** A new key is published for so long before it signs: whoever keeps the document for its hour has it then. */
const publishedAheadMs = 65 * 60_000;
/** Tokens live an hour; a key that signs no more stays published for longer. */
const publishedAfterMs = 2 * 60 * 60_000;
const freshMs = 30_000;
const table = 'oauth_signing_keys';

const makeKeyPair = promisify(generateKeyPair);

/**
 * The installation's keys, sealed in the database and made when they are first needed. The public halves travel to gateways with each
 * grant. Read again every half minute, so that all replicas sign with the same one.
 */
export class KeyRing {
  readonly #parts: SigningKeyParts;
  readonly #given: { readonly jwk: JsonWebKey; readonly publicJwk: JsonWebKey } | undefined;
  #current: { readonly keys: SigningKeys; readonly atMs: number } | undefined;
  #reading: Promise<SigningKeys> | undefined;

  /** @throws Error when the given key is no RSA key of at least 2048 bits */
  constructor(parts: SigningKeyParts) {
    this.#parts = parts;
    this.#given = parts.given === undefined ? undefined : readGiven(parts.given);
  }

  async current(): Promise<SigningKeys> {
    const { now } = this.#parts;
    const held = this.#current;
    if (held !== undefined && now().getTime() - held.atMs < freshMs) return held.keys;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Makes the next key when it is due, and forgets those that no token is signed with any more. */
  async rotate(): Promise<void> {
    const { client, now } = this.#parts;
    const rows = await listSigningKeys(client);
    // Nobody asked for a token yet: nothing to rotate.
    if (rows.length === 0) return;
    const at = now().getTime();
    const own = rows.filter((row) => row.sealedPrivateKey !== null);
    const last = own.at(-1);
    const isDue = last !== undefined && at - last.createdAt.getTime() >= this.#parts.lastsMs;
    if (this.#given === undefined && isDue) await this.#make(last.createdAt);
    const signing = (await this.current()).id;
    const since = rows.find(({ id }) => id === signing)?.createdAt.getTime() ?? at;
    const gone = rows.filter(
      ({ id, createdAt }) =>
        id !== signing &&
        createdAt.getTime() < since &&
        at - since > publishedAheadMs + publishedAfterMs,
    );
    if (gone.length === 0) return;
    await deleteSigningKeys(
      client,
      gone.map(({ id }) => id),
    );
    this.#current = undefined;
  }

  async #read(): Promise<SigningKeys> {
    const { client, now } = this.#parts;
    let rows = await listSigningKeys(client);
    const given = this.#given;
    if (given !== undefined && !rows.some(({ id }) => id === given.publicJwk.kid)) {
      const id = String(given.publicJwk.kid);
      await client.$transaction((db) =>
        insertSigningKey(
          db,
          { id, sealedPrivateKey: null, publicJwk: given.publicJwk, createdAt: now() },
          undefined,
        ),
      );
      rows = await listSigningKeys(client);
    }
    if (given === undefined && !rows.some((row) => row.sealedPrivateKey !== null)) {
      await this.#make(new Date(0));
      rows = await listSigningKeys(client);
    }
    const jwk = given?.jwk ?? this.#open(inUse(rows, now()));
    const keys: SigningKeys = {
      id: String(jwk.kid),
      jwk,
      publicJwks: rows.map((row) => row.publicJwk as JsonWebKey),
    };
    this.#current = { keys, atMs: now().getTime() };
    return keys;
  }

  #open(row: SigningKeyRow): JsonWebKey {
    const pem = this.#parts.vault.open(Buffer.from(row.sealedPrivateKey ?? []), {
      table,
      id: row.id,
    });
    return { ...createPrivateKey(pem).export({ format: 'jwk' }), kid: row.id, alg, use: 'sig' };
  }

  /** Unless another replica has made one since. */
  async #make(unlessSince: Date): Promise<void> {
    const { client, vault, now } = this.#parts;
    const { privateKey, publicKey } = await makeKeyPair('rsa', { modulusLength: 2048 });
    const publicJwk = namedJwk(publicKey);
    const id = String(publicJwk.kid);
    const pem = String(privateKey.export({ format: 'pem', type: 'pkcs8' }));
    const sealedPrivateKey = vault.seal(pem, { table, id });
    await client.$transaction((db) =>
      insertSigningKey(db, { id, sealedPrivateKey, publicJwk, createdAt: now() }, unlessSince),
    );
    this.#current = undefined;
  }
}

const alg = 'RS256';

/** The newest that has been published for long enough; the first one has nobody to wait for. */
function inUse(rows: readonly SigningKeyRow[], now: Date): SigningKeyRow {
  const own = rows.filter((row) => row.sealedPrivateKey !== null);
  const known = own.filter(
    ({ createdAt }) => now.getTime() - createdAt.getTime() >= publishedAheadMs,
  );
  const row = known.at(-1) ?? own[0];
  if (row === undefined) throw new Error('there is no key to sign with');
  return row;
}

/** Named by its thumbprint (RFC 7638): the members that it takes, in the order of their names. */
function namedJwk(key: KeyObject): JsonWebKey {
  const { kty, n, e } = key.export({ format: 'jwk' });
  const kid = createHash('sha256').update(JSON.stringify({ e, kty, n })).digest('base64url');
  return { kty, n, e, kid, alg, use: 'sig' };
}

function readGiven(pem: string): { jwk: JsonWebKey; publicJwk: JsonWebKey } {
  // Several lines are hard to write in an environment.
  const key = readKey(pem.replaceAll('\\n', '\n'));
  const bits = key?.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key?.asymmetricKeyType !== 'rsa' || bits < 2048)
    throw new SettingsError(['JWT_PRIVATE_KEY is no RSA key of at least 2048 bits.']);
  const publicJwk = namedJwk(createPublicKey(key));
  return {
    jwk: { ...key.export({ format: 'jwk' }), kid: publicJwk.kid, alg, use: 'sig' },
    publicJwk,
  };
}

function readKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
