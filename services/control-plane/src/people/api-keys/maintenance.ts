import type { RotationPolicy } from '@sluice/contracts/admin';
import { systemEntry } from '../../kernel/audit/system-entry.ts';
import { type Change, commitChange } from '../../kernel/database/change.ts';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import { presentApiKey } from './present.ts';
import {
  type ApiKeyRow,
  findApiKey,
  keysToNotice,
  lockMaintenance,
  removeSecret,
  secretsThatEnded,
  updateApiKey,
} from './store.ts';

/** What keeps the rows of keys true to the clock, beside what each request checks by itself. */
export interface MaintenanceParts {
  client: DatabaseClient;
  now: () => Date;
}

const batchMax = 100;
const runMsMax = 15_000;

/**
 * One run: secrets whose overlap is over are removed, and the audit log is told
 * once of each key that has ended and of each rotation that is due. Rotations
 * are not made: a new secret could be handed to nobody, and the key would stop
 * working for those who use it. One replica runs at a time; what it cannot do in
 * its time is left to the next run.
 */
export async function maintainKeys(parts: MaintenanceParts, signal?: AbortSignal): Promise<void> {
  await parts.client.$transaction(
    async (db) => {
      if (!(await lockMaintenance(db))) return;
      const startedAt = performance.now();
      const mayGoOn = () => signal?.aborted !== true && performance.now() - startedAt < runMsMax;
      for (const duty of duties) await perform(duty, parts, mayGoOn);
    },
    { maxWait: 5_000, timeout: 2 * runMsMax },
  );
}

/** One kind of thing that becomes due, and what is then done about each. */
interface Duty {
  action: 'update' | 'rotate';
  find(client: DatabaseClient, now: Date): Promise<{ id: string; organisationId: string }[]>;
  /** Returns false when it is not due any more: somebody changed it meanwhile. */
  act(change: Change, id: string, now: Date): Promise<boolean>;
}

const duties: readonly Duty[] = [
  {
    action: 'update',
    find: (client, now) => secretsThatEnded(client, now, batchMax),
    async act(change, id, now) {
      const secret = await removeSecret(change.db, id, now);
      const key = secret === null ? null : await findApiKey(change.db, secret.apiKeyId);
      if (secret === null || key === null) return false;
      describeKey(change, key, {
        change: 'previous_secret_removed',
        old_key_masked: secret.masked,
        transition_expires_at: secret.expiresAt?.toISOString(),
      });
      return true;
    },
  },
  {
    action: 'update',
    find: (client, now) => keysToNotice(client, 'expiryNoticeAt', now, batchMax),
    async act(change, id, now) {
      const key = await findApiKey(change.db, id);
      const endedAt = key?.expiryNoticeAt ?? null;
      if (key === null || endedAt === null || endedAt > now) return false;
      await updateApiKey(change.db, id, { expiryNoticeAt: null });
      describeKey(
        change,
        key,
        { change: 'expired', expires_at: endedAt.toISOString() },
        { before: new Date(endedAt.getTime() - 1), after: now },
      );
      return true;
    },
  },
  {
    action: 'rotate',
    find: (client, now) => keysToNotice(client, 'rotationNoticeAt', now, batchMax),
    async act(change, id, now) {
      const key = await findApiKey(change.db, id);
      const dueAt = key?.rotationNoticeAt ?? null;
      if (key === null || dueAt === null || dueAt > now) return false;
      await updateApiKey(change.db, id, { rotationNoticeAt: null });
      const policy = key.rotationPolicy as RotationPolicy | null;
      describeKey(change, key, {
        rotation_mode: 'auto',
        due_at: dueAt.toISOString(),
        performed: false,
        rotation_period: policy?.rotation_period ?? undefined,
        rotation_period_days: policy?.rotation_period_days ?? undefined,
      });
      return true;
    },
  },
];

async function perform(
  duty: Duty,
  { client, now }: MaintenanceParts,
  mayGoOn: () => boolean,
): Promise<void> {
  let due = await duty.find(client, now());
  while (due.length > 0) {
    for (const { id, organisationId } of due) {
      if (!mayGoOn()) return;
      const timestamp = now();
      const facts = { organisationId, timestamp, method: 'PUT', uri: 'maintenance' } as const;
      const entry = systemEntry({ ...facts, resourceType: 'api_keys', action: duty.action });
      await commitChange(client, entry, async (change) => {
        if (!(await duty.act(change, id, timestamp))) throw notDue;
      }).catch((error: unknown) => {
        if (error !== notDue) throw error;
      });
    }
    due = await duty.find(client, now());
  }
}

/** Takes a change back, and its audit entry with it. */
const notDue = new Error('not due any more');

function describeKey(
  change: Change,
  key: ApiKeyRow,
  detail: Record<string, unknown>,
  shownAt?: { before: Date; after: Date },
): void {
  change.touchKey(key.id);
  change.describe({
    resourceId: key.id,
    workspaceId: key.workspaceId ?? undefined,
    before: shownAt && presentApiKey(key, shownAt.before),
    after: shownAt && presentApiKey(key, shownAt.after),
    detail: { api_key_id: key.id, ...detail },
  });
}
