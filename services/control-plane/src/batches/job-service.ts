import type { JobTokenSeal } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { jobs } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import type { Database } from '../kernel/database/client.ts';
import { isUuid } from '../kernel/names/ids.ts';
import {
  type BatchEnd,
  claimBatch,
  endBatch,
  findBatch,
  holdBatch,
  listParts,
  noteChecked,
  noteFinalizing,
  notePart,
  releaseBatch,
} from './batch-store.ts';
import { batchMessage } from './messages.ts';
import { openJob } from './sealed-job.ts';

export interface JobServiceParts {
  readonly client: Database;
  readonly vault: CredentialVault;
  readonly tokens: JobTokenSeal;
  readonly now: () => Date;
}

const leaseMsMax = 600_000;
const partsPerMessage = 500;
const ends: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled']);

/** Batches as those see them that run them. */
export function jobHandlers(parts: JobServiceParts): RpcHandlers<typeof jobs.JobService> {
  const { client: db, vault, tokens, now } = parts;
  const tokenFor = (id: string, endpoint: string) =>
    tokens.sign({ batchId: id, endpoint }, now().getTime());
  const bounded = (leaseMs: bigint) => Math.min(Math.max(1, Number(leaseMs)), leaseMsMax);
  const held = (status: string | undefined) => ({
    isHeld: status !== undefined,
    status: status ?? '',
  });

  return {
    async claimBatch({ leaseMs, kind }) {
      const of = kind === 'response' ? kind : 'batch';
      const row = await claimBatch(db, of, bounded(leaseMs));
      if (row === undefined) return {};
      const { id, endpoint, run, failures } = row;
      return {
        claim: {
          batch: batchMessage(row),
          run,
          failures,
          isChecked: row.inProgressAt !== null,
          token: tokenFor(id, endpoint),
          ...openJob(vault, id, row.sealedJob),
        },
      };
    },
    async holdBatch({ id, run, leaseMs }) {
      const status = await holdBatch(db, { id, run }, bounded(leaseMs));
      if (status === undefined) return { isHeld: false };
      const { endpoint = '' } = (await findBatch(db, { id })) ?? {};
      return { isHeld: true, status, token: tokenFor(id, endpoint) };
    },
    async noteChecked({ id, run, total }) {
      return held(await noteChecked(db, { id, run }, total));
    },
    async notePart({ id, run, number, lines, completed, failed }) {
      return held(await notePart(db, { id, run }, { number, lines, completed, failed }));
    },
    async *listParts({ id }) {
      if (!isUuid(id)) throw new GatewayError('batch.not_found');
      let after = { run: 0, number: -1 };
      for (;;) {
        const page = await listParts(db, id, after, partsPerMessage);
        yield { parts: page };
        const last = page.at(-1);
        if (page.length < partsPerMessage || last === undefined) return;
        after = last;
      }
    },
    async noteFinalizing({ id, run }) {
      return held(await noteFinalizing(db, { id, run }));
    },
    async endBatch({ id, run, status, outputFileId, errorFileId, errorsJson, notRun }) {
      if (!ends.has(status)) throw new GatewayError('internal');
      const end: BatchEnd = {
        status: status as BatchEnd['status'],
        outputFileId: outputFileId === '' ? null : outputFileId,
        errorFileId: errorFileId === '' ? null : errorFileId,
        errors: errorsJson === '' ? [] : (JSON.parse(errorsJson) as string[]),
        notRun,
      };
      return { isHeld: await endBatch(db, { id, run }, end, now()) };
    },
    async releaseBatch({ id, run, afterMs, failures }) {
      await releaseBatch(db, { id, run }, { afterMs: Number(afterMs), failures });
      return {};
    },
  };
}
