import type { JobTokenSeal } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { jobs } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import type { Database } from '../kernel/database/client.ts';
import { isUuid, newId } from '../kernel/names/ids.ts';
import {
  claimLooks,
  countFollowed,
  countOpenWork,
  forgetEnded,
  insertWork,
  noteEnd,
  noteOpen,
  type WorkRow,
} from './follow-store.ts';

export interface FollowServiceParts {
  readonly client: Database;
  readonly tokens: JobTokenSeal;
  readonly now: () => Date;
  /** Of one workspace, followed at once. */
  readonly followedMax: number;
}

const looksMax = 200;
const leaseMsMax = 600_000;
const afterMsMax = 24 * 60 * 60_000;
/** The shortest time between two looks at one work: what was begun has not ended at once. */
const firstLookMs = 10_000;
/** Longer than any gateway tries to tell of it. */
const keptMs = 7 * 24 * 60 * 60_000;
const forgottenAtOnce = 1_000;
const ends: ReadonlySet<string> = new Set(['ended', 'lost', 'gone']);

/** Work that goes on at providers: told by gateways, looked at by data services. */
export function followHandlers({
  client: db,
  tokens,
  now,
  followedMax,
}: FollowServiceParts): RpcHandlers<typeof jobs.FollowService> {
  return {
    async noteWork({ works }) {
      const told = works.filter(({ owner }) => isWhole(owner));
      const open = await countOpenWork(db, [
        ...new Set(told.map(({ owner }) => owner?.workspaceId ?? '')),
      ]);
      const taken = told.filter(({ owner }) => {
        const of = owner?.workspaceId ?? '';
        const count = (open.get(of) ?? 0) + 1;
        open.set(of, count);
        return count <= followedMax;
      });
      const at = now().getTime();
      await insertWork(
        db,
        taken.map(({ kind, objectId, owner, provider, path, traceId, madeAtMs }) => ({
          id: newId(at),
          kind,
          objectId,
          organisationId: owner?.organisationId ?? '',
          workspaceId: owner?.workspaceId ?? '',
          apiKeyId: owner?.apiKeyId ?? '',
          provider,
          path,
          traceId,
          madeAt: new Date(Number(madeAtMs)),
          lookAt: new Date(Number(madeAtMs) + firstLookMs),
        })),
      );
      return { refused: works.length - taken.length };
    },
    async claimLooks({ max, leaseMs, kinds, withCounts }) {
      const rows = await claimLooks(db, {
        kinds,
        leaseMs: bounded(leaseMs, leaseMsMax),
        max: Math.min(Math.max(0, max), looksMax),
      });
      const looks = rows.map((row) => lookMessage(row, tokens, now().getTime()));
      if (!withCounts) return { looks };
      await forgetEnded(db, new Date(now().getTime() - keptMs), forgottenAtOnce);
      const { followed, oldestAt } = await countFollowed(db);
      const oldestAtMs = BigInt(oldestAt?.getTime() ?? 0);
      return { looks, counts: { followed: BigInt(followed), oldestAtMs } };
    },
    async noteLook({ id, run, state, reason, afterMs, failures }) {
      if (!isUuid(id)) throw new GatewayError('internal');
      if (state === 'open') {
        const next = { afterMs: bounded(afterMs, afterMsMax), failures };
        return { isHeld: await noteOpen(db, { id, run }, next) };
      }
      if (!ends.has(state)) throw new GatewayError('internal');
      return { isHeld: await noteEnd(db, { id, run }, { state, reason }, now()) };
    },
  };
}

function isWhole(owner: jobs.Owner | undefined): boolean {
  if (owner === undefined) return false;
  const { organisationId, workspaceId, apiKeyId } = owner;
  return [organisationId, workspaceId, apiKeyId].every(isUuid);
}

function bounded(ms: bigint, max: number): number {
  return Math.min(Math.max(1, Number(ms)), max);
}

function lookMessage(row: WorkRow, tokens: JobTokenSeal, nowMs: number) {
  const { id, run, failures, kind, objectId, provider, path, traceId, madeAt } = row;
  const { organisationId, workspaceId, apiKeyId } = row;
  const statement = { workId: id, apiKeyId, provider, path, traceId };
  return {
    id,
    run,
    failures,
    token: tokens.sign(statement, nowMs),
    work: {
      kind,
      objectId,
      owner: { organisationId, workspaceId, apiKeyId },
      provider,
      path,
      traceId,
      madeAtMs: BigInt(madeAt.getTime()),
    },
  };
}
