import { generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JWTPayload, SignJWT } from 'jose';
import { keepAliveMs } from './keep-alive.ts';

/** A question that came to the introspection endpoint. */
export interface Introspected {
  token: string;
  contentType: string;
  authorization: string | undefined;
}

/** An identity provider over real HTTP: publishes keys, signs tokens, answers for them. */
export interface Issuer {
  readonly jwksUrl: string;
  readonly introspectionUrl: string;
  /** How often the key set was fetched. */
  readonly fetches: number;
  readonly introspected: readonly Introspected[];
  /** Keys that are published, as they are published. */
  readonly published: JsonWebKey[];
  /** Takes over from the built-in answers; undefined = back to them. */
  answer: ((req: IncomingMessage, res: ServerResponse) => void) | undefined;
  /** What introspection says of a token; of any other it says that it is not active. */
  readonly active: Map<string, Record<string, unknown>>;
  /** A new signing key; published unless told otherwise. `jwk` is put over what is published of it. */
  addKey(kid: string, options?: { publish?: boolean; bits?: number; jwk?: object }): KeyObject;
  /** Claims as a token that is good for five minutes, signed with a key of this issuer. */
  sign(claims: JWTPayload, options?: SignOptions): Promise<string>;
  close(): Promise<void>;
}

export interface SignOptions {
  /** Default: `key-1`, which is there from the start. */
  kid?: string;
  /** Over the usual header; undefined leaves a member out. */
  header?: Record<string, unknown>;
  /** In place of the key behind `kid`. */
  key?: KeyObject | Uint8Array;
}

export async function startIssuer(): Promise<Issuer> {
  const privateKeys = new Map<string, KeyObject>();
  const introspected: Introspected[] = [];
  let fetches = 0;

  const server = createServer({ keepAliveTimeout: keepAliveMs }, async (req, res) => {
    if (req.url === '/jwks') fetches += 1;
    if (issuer.answer !== undefined) return issuer.answer(req, res);
    if (req.url === '/jwks') return reply(res, { keys: issuer.published });
    const question = await readQuestion(req);
    introspected.push(question);
    const known = issuer.active.get(question.token);
    return reply(res, known === undefined ? { active: false } : { active: true, ...known });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const issuer: Issuer = {
    jwksUrl: `${origin}/jwks`,
    introspectionUrl: `${origin}/introspect`,
    get fetches() {
      return fetches;
    },
    introspected,
    published: [],
    answer: undefined,
    active: new Map(),
    addKey(kid, { publish = true, bits = 2048, jwk = {} } = {}) {
      const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: bits });
      privateKeys.set(kid, privateKey);
      if (publish)
        issuer.published.push({
          ...publicKey.export({ format: 'jwk' }),
          kid,
          use: 'sig',
          alg: 'RS256',
          ...jwk,
        });
      return privateKey;
    },
    async sign(claims, { kid = 'key-1', header = {}, key = privateKeys.get(kid) } = {}) {
      if (key === undefined) throw new Error(`The issuer has no key ${kid}.`);
      const now = Math.floor(Date.now() / 1000);
      return new SignJWT({ iat: now, exp: now + 300, ...claims })
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid, ...header })
        .sign(key);
    },
    close() {
      server.closeAllConnections();
      return new Promise<void>((done) => server.close(() => done()));
    },
  };
  issuer.addKey('key-1');
  return issuer;
}

function reply(res: ServerResponse, body: object): void {
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function readQuestion(req: IncomingMessage): Promise<Introspected> {
  let body = '';
  for await (const piece of req.setEncoding('utf8')) body += piece;
  const contentType = req.headers['content-type'] ?? '';
  const token =
    contentType === 'application/json'
      ? (JSON.parse(body) as { token: string }).token
      : (new URLSearchParams(body).get('token') ?? '');
  return { token, contentType, authorization: req.headers.authorization };
}
