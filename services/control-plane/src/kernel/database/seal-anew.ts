import type { Logger } from '@sluice/telemetry';
import { Prisma } from '../../generated/prisma/client.ts';
import type { CredentialVault } from '../credentials/envelope.ts';
import { bytes } from './change.ts';
import type { Database } from './client.ts';

/** Every column that the vault seals, and the columns that its rows are addressed by. A test holds the list to the database. */
export const sealedColumns = [
  { table: 'config_versions', column: 'sealed_body', key: ['id'] },
  { table: 'guardrail_versions', column: 'sealed_checks', key: ['id'] },
  { table: 'integrations', column: 'sealed_credentials', key: ['id'] },
  {
    table: 'integration_models',
    column: 'sealed_configurations',
    key: ['integration_id', 'slug'],
  },
  { table: 'secret_references', column: 'sealed_auth_config', key: ['id'] },
  { table: 'organisations', column: 'sealed_jwt_secrets', key: ['id'] },
  { table: 'organisations', column: 'sealed_oidc_secrets', key: ['id'] },
  { table: 'organisations', column: 'sealed_alert_keys', key: ['id'] },
  { table: 'mcp_integrations', column: 'sealed_configurations', key: ['id'] },
  { table: 'agent_integrations', column: 'sealed_configurations', key: ['id'] },
  { table: 'mcp_integration_tokens', column: 'sealed_token', key: ['integration_id'] },
  { table: 'mcp_connections', column: 'sealed_tokens', key: ['server_id', 'user_id'] },
  {
    table: 'mcp_upstream_clients',
    column: 'sealed_client',
    key: ['integration_id', 'name_hash'],
  },
  { table: 'mcp_sign_ins', column: 'sealed_attempt', key: ['state_hash'] },
  { table: 'idempotency_keys', column: 'sealed_answer', key: ['id'] },
  { table: 'oauth_signing_keys', column: 'sealed_private_key', key: ['id'] },
  { table: 'oauth_clients', column: 'sealed_metadata', key: ['id'] },
  { table: 'oauth_records', column: 'sealed_payload', key: ['model', 'id_hash'] },
  { table: 'service_files', column: 'sealed_key', key: ['id'] },
  { table: 'batches', column: 'sealed_job', key: ['id'] },
] as const;

const batchMax = 200;
const runMsMax = 30_000;
/** When nothing was left, it is looked at again so seldom: a replica that still has the settings of before may have sealed something. */
const againMs = 600_000;

export interface SealAnewParts {
  db: Database;
  vault: CredentialVault;
  logger: Logger;
  /** Whether the vault knows more than one master key. */
  isRotating: boolean;
}

/**
 * Wraps the keys of sealed values by the master key in use while another one is known, some at a time and from where the run before
 * ended. Values stay as they are, so gateways are told nothing. What a change writes meanwhile is newer, and left alone.
 */
export class SealAnew {
  readonly #parts: SealAnewParts;
  #place: Place | undefined;
  #found = { left: 0, broken: 0 };
  #againAtMs = 0;
  /** What the last whole look found under another key; 0 also where none is known. */
  left = 0;

  constructor(parts: SealAnewParts) {
    this.#parts = parts;
  }

  async run(signal: AbortSignal): Promise<void> {
    const startedAtMs = Date.now();
    if (!this.#parts.isRotating || startedAtMs < this.#againAtMs) return;
    for (let at = this.#place?.at ?? 0; at < sealedColumns.length; at += 1) {
      let after = this.#place?.at === at ? this.#place.after : '';
      for (;;) {
        this.#place = { at, after };
        if (signal.aborted || Date.now() - startedAtMs > runMsMax) return;
        const rows = await this.#read(at, after);
        for (const row of rows) await this.#wrap(at, row);
        if (rows.length < batchMax) break;
        after = rows.at(-1)?.address ?? '';
      }
    }
    this.#end();
  }

  #read(at: number, after: string): Promise<SealedRow[]> {
    const { name, column, address } = partsOf(at);
    return this.#parts.db.$queryRaw<SealedRow[]>(Prisma.sql`
      SELECT ${address} AS address, ${column} AS sealed FROM ${name}
      WHERE ${column} IS NOT NULL AND ${address} > ${after} ORDER BY 1 LIMIT ${batchMax}`);
  }

  async #wrap(at: number, { address: id, sealed }: SealedRow): Promise<void> {
    const { db, vault, logger } = this.#parts;
    const { name, column, address, table } = partsOf(at);
    let wrapped: Buffer | undefined;
    try {
      wrapped = vault.rewrapped(Buffer.from(sealed), { table, id });
    } catch {
      this.#found.broken += 1;
      logger.error({ table, id }, 'a sealed value opens with none of the master keys');
      return;
    }
    if (wrapped === undefined) return;
    this.#found.left += 1;
    await db.$executeRaw(Prisma.sql`
      UPDATE ${name} SET ${column} = ${bytes(wrapped)}
      WHERE ${address} = ${id} AND ${column} = ${bytes(Buffer.from(sealed))}`);
  }

  #end(): void {
    const { left, broken } = this.#found;
    this.left = left + broken;
    this.#place = undefined;
    this.#found = { left: 0, broken: 0 };
    if (left > 0) this.#parts.logger.info({ values: left }, 'values are sealed anew');
    if (this.left > 0) return;
    this.#parts.logger.info('all values are sealed under MASTER_KEY: MASTER_KEY_ALSO may go');
    this.#againAtMs = Date.now() + againMs;
  }
}

interface Place {
  readonly at: number;
  readonly after: string;
}

interface SealedRow {
  address: string;
  sealed: Uint8Array;
}

/** Names are of the list above and of nobody else. */
function partsOf(at: number) {
  const { table, column, key } = sealedColumns[at] as (typeof sealedColumns)[number];
  return {
    table,
    name: Prisma.raw(table),
    column: Prisma.raw(column),
    address: Prisma.raw(key.map((each) => `${each}::text`).join(" || '/' || ")),
  };
}
