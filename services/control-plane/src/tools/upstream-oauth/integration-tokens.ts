import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { GuardedFetch } from '@sluice/outbound';
import type { Logger } from '@sluice/telemetry';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import { SignInFault } from '../registry/sign-in-fault.ts';
import { Asker } from './asker.ts';
import { type AskedIntegration, type Calling, callingOf } from './calling.ts';
import { askByClientCredentials } from './client-credentials.ts';
import { renewsAfterMs } from './token-answer.ts';
import { findToken, saveToken, takeTokenLock } from './tokens-store.ts';

export interface IntegrationTokensParts {
  readonly client: DatabaseClient;
  readonly vault: CredentialVault;
  readonly fetch: GuardedFetch;
  readonly now: () => Date;
  readonly logger: Logger;
}

export interface HeldToken {
  readonly token: string;
  readonly renewsAt: Date;
  readonly expiresAt: Date;
}

const table = 'mcp_integration_tokens';
/** Discovery and the token together. */
const askMs = 10_000;
/** Until the replica that asks has an answer. */
const waitMs = 15_000;
const lookAgainMs = 100;
/** Each holds a connection to the database. */
const askingMax = 4;

/**
 * Tokens by which all callers of an integration are known to its server (`oauth_client_credentials`). Of all replicas one asks for one
 * at a time; the others find what it got.
 */
export class IntegrationTokens {
  readonly #parts: IntegrationTokensParts;
  readonly #asking = new Map<string, Promise<HeldToken>>();
  #underWay = 0;

  constructor(parts: IntegrationTokensParts) {
    this.#parts = parts;
  }

  /**
   * @param refused SHA-256 of a token that the server did not take
   * @throws SignInFault
   */
  async tokenOf(integration: AskedIntegration, refused?: Buffer): Promise<HeldToken> {
    const calling = callingOf(this.#parts.vault, integration, 'oauth_client_credentials');
    const usable = await this.#stored(this.#parts.client, calling, refused);
    if (usable?.isFresh === true) return usable.held;
    const key = `${calling.id} ${calling.fingerprint.toString('hex')} ${refused?.toString('hex') ?? ''}`;
    let asking = this.#asking.get(key);
    if (asking === undefined) {
      asking = this.#renew(calling, refused).finally(() => this.#asking.delete(key));
      this.#asking.set(key, asking);
    }
    try {
      return await asking;
    } catch (error) {
      const { logger } = this.#parts;
      logger.warn(
        { integration_id: calling.id, err: error },
        'there is no new token for an MCP server',
      );
      // What still works is worth more than the reason why it will not be renewed.
      if (usable !== undefined && error instanceof SignInFault) return this.#kept(usable.held);
      throw error;
    }
  }

  #kept({ token, expiresAt }: HeldToken): HeldToken {
    return { token, expiresAt, renewsAt: new Date(this.#parts.now().getTime() + 5_000) };
  }

  async #stored(
    db: Pick<DatabaseClient, 'mcpIntegrationToken'>,
    { id, fingerprint }: Calling,
    refused: Buffer | undefined,
  ): Promise<{ held: HeldToken; isFresh: boolean } | undefined> {
    const row = await findToken(db as DatabaseClient, id);
    const now = this.#parts.now();
    if (row === undefined || row.expiresAt <= now || !fingerprint.equals(row.fingerprint))
      return undefined;
    const { renewsAt, expiresAt } = row;
    const token = this.#parts.vault.open(Buffer.from(row.sealedToken), { table, id });
    if (refused?.equals(createHash('sha256').update(token).digest()) === true) return undefined;
    return { held: { token, renewsAt, expiresAt }, isFresh: renewsAt > now };
  }

  async #renew(calling: Calling, refused: Buffer | undefined): Promise<HeldToken> {
    if (this.#underWay >= askingMax)
      throw new SignInFault('busy', 'Too many servers are signed in at at once: try again.');
    this.#underWay += 1;
    try {
      const endsAt = performance.now() + waitMs;
      while (performance.now() < endsAt) {
        const held = await this.#renewIfFree(calling, refused);
        if (held !== undefined) return held;
        await delay(lookAgainMs);
      }
      throw new SignInFault('timeout', 'The authorisation server did not answer in time.');
    } finally {
      this.#underWay -= 1;
    }
  }

  /** Undefined = another replica asks. */
  #renewIfFree(calling: Calling, refused: Buffer | undefined): Promise<HeldToken | undefined> {
    const { client, vault, fetch, now } = this.#parts;
    const { id, url, given, fingerprint } = calling;
    return client.$transaction(
      async (db) => {
        if (!(await takeTokenLock(db, id))) return undefined;
        const since = await this.#stored(db as DatabaseClient, calling, refused);
        if (since?.isFresh === true) return since.held;
        const asker = new Asker({ fetch, server: new URL(url), timeoutMs: askMs });
        const { token, lastsMs } = await askByClientCredentials(asker, given);
        const atMs = now().getTime();
        const held = {
          token,
          expiresAt: new Date(atMs + lastsMs),
          renewsAt: new Date(atMs + renewsAfterMs(lastsMs)),
        };
        await saveToken(db, {
          integrationId: id,
          fingerprint,
          sealedToken: vault.seal(token, { table, id }),
          renewsAt: held.renewsAt,
          expiresAt: held.expiresAt,
        });
        return held;
      },
      { timeout: askMs + 5_000, maxWait: 5_000 },
    );
  }
}
