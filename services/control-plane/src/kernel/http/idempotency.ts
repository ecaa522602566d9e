import { createHash } from 'node:crypto';
import { idempotencyKeyHeader, idempotencyKeyMax } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Caller } from '../access/caller.ts';
import type { CredentialVault } from '../credentials/envelope.ts';
import { canonicalJson } from '../database/canonical-json.ts';
import { bytes } from '../database/change.ts';
import type { Database, DatabaseClient } from '../database/client.ts';
import { newId } from '../names/ids.ts';

/**
 * Creates that may be sent again: with the header `idempotency-key`, what was
 * answered the first time is answered again, for a day. A key is its caller's
 * own. What was refused has changed nothing and keeps no key.
 */
const keptMs = 86_400_000;
/** No request takes so long: the process that carried it out is gone. */
const abandonedMs = 120_000;
/** No answer waits so long until what it changed is in force: the process that waited is gone. */
const untoldMs = 10_000;
/** At once, of one organisation. */
const keysMax = 20_000;
/** UTF-8 bytes of an answer that is kept. */
const answerBytesMax = 65_536;
const purgedAtOnce = 1_000;
const table = 'idempotency_keys';

/** A create under way, under a key. */
export interface Attempt {
  readonly id: string;
  readonly attemptId: string;
  readonly request: string;
}

/** Of a success. */
export interface Answer {
  /** Beside those that every answer has. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

interface Row {
  attemptId: string;
  state: string;
  resourceId: string | null;
  sealedAnswer: Uint8Array;
  startedAt: Date;
}

interface Kept {
  readonly request: string;
  /** Its body. */
  readonly answer: object | null;
  /** A release before this one kept none. */
  readonly headers?: Readonly<Record<string, string>>;
}

export class IdempotencyKeys {
  readonly #client: DatabaseClient;
  readonly #vault: CredentialVault;

  constructor(client: DatabaseClient, vault: CredentialVault) {
    this.#client = client;
    this.#vault = vault;
  }

  /**
   * @param asked  all that makes a request this one: operation, path, query and body
   * @returns the answer of before, or the attempt that is to be made now
   * @throws 409 while the first one is under way or not yet in force, or its answer was not kept; 422 for another request under the key; 429
   */
  async begin(
    caller: Caller,
    key: string,
    asked: unknown,
    now: Date,
  ): Promise<{ replay: Answer } | { attempt: Attempt }> {
    const { organisationId } = caller;
    const id = sha256(JSON.stringify([organisationId, ...whoseKey(caller), key]));
    const request = sha256(canonicalJson(asked));
    const attempt: Attempt = { id, attemptId: newId(), request };
    await this.#refuseTooMany(organisationId, id, now);
    const sealed = this.#seal(attempt, null);
    const expiresAt = new Date(now.getTime() + keptMs);
    const abandonedAt = new Date(now.getTime() - abandonedMs);
    // One statement decides between replicas: whose row it is afterwards carries it out.
    const taken = await this.#client.$executeRaw(Prisma.sql`
      INSERT INTO idempotency_keys AS held
        (id, organisation_id, attempt_id, state, sealed_answer, started_at, expires_at)
      VALUES (${id}, ${organisationId}::uuid, ${attempt.attemptId}::uuid, 'running', ${sealed}, ${now}, ${expiresAt})
      ON CONFLICT (id) DO UPDATE SET attempt_id = excluded.attempt_id, state = 'running', resource_id = NULL,
        sealed_answer = excluded.sealed_answer, started_at = excluded.started_at, expires_at = excluded.expires_at
      WHERE held.expires_at <= ${now} OR (held.state = 'running' AND held.started_at < ${abandonedAt})`);
    if (taken === 1) return { attempt };
    const row = await this.#client.idempotencyKey.findUnique({ where: { id } });
    // What was refused meanwhile has let go of it; who sends it once more will be served.
    if (row === null) throw new GatewayError('admin.idempotency_in_flight', inFlight);
    return { replay: this.#answerOf(row, id, request, now) };
  }

  /** Within the change: it is committed under this attempt or not at all. */
  async markChanged(db: Database, attempt: Attempt, resourceId: string | undefined): Promise<void> {
    const marked = await db.$executeRaw(Prisma.sql`
      UPDATE idempotency_keys SET state = 'changed', resource_id = ${resourceId ?? null}
      WHERE id = ${attempt.id} AND attempt_id = ${attempt.attemptId}::uuid`);
    if (marked !== 1) throw new GatewayError('admin.idempotency_in_flight', inFlight);
  }

  /** @param isTold whether gateways were waited for; until then the answer is for who comes when this process is gone */
  async keep(attempt: Attempt, answer: Answer, isTold: boolean, now: Date): Promise<void> {
    const isSmall = Buffer.byteLength(JSON.stringify(answer.body)) <= answerBytesMax;
    const sealed = this.#seal(attempt, isSmall ? answer : null);
    await this.#client.$executeRaw(Prisma.sql`
      UPDATE idempotency_keys SET state = ${isTold ? 'done' : 'changed'}, sealed_answer = ${sealed}, started_at = ${now}
      WHERE id = ${attempt.id} AND attempt_id = ${attempt.attemptId}::uuid`);
  }

  /** Of a request that failed: one whose change was committed before keeps its key, without an answer. */
  async release({ id, attemptId }: Attempt): Promise<void> {
    await this.#client.$executeRaw(Prisma.sql`
      WITH released AS (
        DELETE FROM idempotency_keys
        WHERE id = ${id} AND attempt_id = ${attemptId}::uuid AND state = 'running')
      UPDATE idempotency_keys SET state = 'done'
      WHERE id = ${id} AND attempt_id = ${attemptId}::uuid AND state = 'changed'`);
  }

  #answerOf(row: Row, id: string, request: string, now: Date): Answer {
    const text = this.#vault.open(Buffer.from(row.sealedAnswer), { table, id });
    const kept = JSON.parse(text) as Kept;
    if (kept.request !== request) throw new GatewayError('admin.idempotency_key_reused');
    const patienceMs = kept.answer === null ? abandonedMs : untoldMs;
    const isUnderWay = now.getTime() - row.startedAt.getTime() < patienceMs;
    if (row.state !== 'done' && isUnderWay)
      throw new GatewayError('admin.idempotency_in_flight', inFlight);
    if (kept.answer !== null) return { headers: kept.headers ?? {}, body: kept.answer };
    throw new GatewayError('admin.idempotency_answer_lost', {
      message: `The first request under this key was carried out${row.resourceId === null ? '' : `, on ${row.resourceId}`}, but its answer was not kept. Look at what is there before you send it under another key.`,
    });
  }

  #seal({ id, request }: Attempt, answer: Answer | null): Uint8Array<ArrayBuffer> {
    const kept: Kept =
      answer === null
        ? { request, answer }
        : { request, answer: answer.body, headers: answer.headers };
    return bytes(this.#vault.seal(JSON.stringify(kept), { table, id }));
  }

  /** One that is kept already is none more. */
  async #refuseTooMany(organisationId: string, id: string, now: Date): Promise<void> {
    const [row] = await this.#client.$queryRaw<{ count: number; isKept: boolean }[]>(Prisma.sql`
      SELECT count(*)::int AS count,
        EXISTS (SELECT FROM idempotency_keys WHERE id = ${id} AND expires_at > ${now}) AS "isKept"
      FROM (
        SELECT FROM idempotency_keys WHERE organisation_id = ${organisationId}::uuid AND expires_at > ${now}
        LIMIT ${keysMax}) AS live`);
    if (row !== undefined && row.count >= keysMax && !row.isKept)
      throw new GatewayError('admin.idempotency_keys_max');
  }
}

/** The tokens of a user may be of several workspaces, and a request does not say of which. */
function whoseKey({ keyId, token, workspaceId }: Caller): (string | undefined)[] {
  return token === undefined ? [keyId] : [keyId, workspaceId];
}

const inFlight = { headers: { 'retry-after': '1' } };

/** The header's value. @throws 400 when it is not 1 to 255 printable ASCII characters */
export function idempotencyKeyIn(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && isKey(header)) return header;
  throw new GatewayError('admin.validation', {
    field: idempotencyKeyHeader,
    message: `${idempotencyKeyHeader}: must be 1 to ${idempotencyKeyMax} printable ASCII characters without spaces`,
  });
}

function isKey(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text) && text.length <= idempotencyKeyMax;
}

/** Removes keys whose day is over, some at a time. */
export async function purgeIdempotencyKeys(client: DatabaseClient, now: Date): Promise<void> {
  for (let removed = purgedAtOnce; removed === purgedAtOnce; )
    removed = await client.$executeRaw(Prisma.sql`
      DELETE FROM idempotency_keys WHERE id IN (
        SELECT id FROM idempotency_keys WHERE expires_at <= ${now} LIMIT ${purgedAtOnce})`);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
