import type { Changed } from '@sluice/contracts';
import type { AuditAction, AuditResource } from '@sluice/contracts/admin';
import { Prisma } from '../../generated/prisma/client.ts';
import { canonicalEntry, entryHash, type NewAuditEntry } from '../audit/chain.ts';
import { maskedJson } from '../credentials/mask.ts';
import { newId } from '../names/ids.ts';
import type { Database, DatabaseClient } from './client.ts';
import { fromDatabase } from './faults.ts';

/** The channel on which replicas tell each other what was committed. */
export const changesChannel = 'sluice_changes';

/** After the last notice of a change, its id: replicas of the release before do not listen here. */
export const barriersChannel = 'sluice_barriers';

/** What gateways are told of. */
export type ChangeNotice = Exclude<Changed, { key: string }> | KeyNotice;

export interface KeyNotice {
  readonly key: string;
  /**
   * Its workspace, or its organisation when it has none: who holds neither does not
   * hold the key. A replica of the release before does not say.
   */
  readonly of?: string;
  /** What keys are fresh of with this change. */
  readonly mark?: string;
}

/** What one change did beside its own rows; collected while it runs, written when it ends. */
export interface Change {
  readonly db: Database;
  /** The bundle of this workspace is different now. */
  touchWorkspace(id: string): void;
  /** What a gateway knows of this key is different now. */
  touchKey(id: string): void;
  /** How the organisation's tokens are validated, or the names of its workspaces, are different now. */
  touchOrganisation(): void;
  /**
   * For the audit entry: what was changed, in which workspace, how it was shown
   * before and is shown after, and what the request alone does not tell.
   */
  describe(facts: ChangeFacts): void;
  /** What was asked for is so already: there is no entry of it, and nobody is told. */
  unchanged(): void;
  /** An entry of its own for what nobody asked for, but happens with this change, such as a key made on joining. */
  alsoRecord(
    facts: ChangeFacts & {
      resourceType: AuditResource;
      action: AuditAction;
      responseStatusCode?: number;
    },
  ): void;
}

/** What a change told gateways. */
export interface Committed {
  readonly notices: readonly ChangeNotice[];
  /** Told after them. */
  readonly barrier: string;
}

export interface ChangeFacts {
  resourceId?: string | undefined;
  workspaceId?: string | undefined;
  /** Who did it, where only the change finds that out. */
  userId?: string | undefined;
  before?: object | undefined;
  after?: object | undefined;
  detail?: Record<string, unknown> | undefined;
}

/**
 * Runs one change of an organisation: its rows, the revisions of the workspaces
 * it touched, its audit entry and the notices to other replicas are committed
 * together or not at all.
 *
 * The organisation's row is locked first. So the changes of one organisation
 * have one order: the audit chain has no forks, no update is lost, and two
 * changes cannot wait for each other's locks.
 *
 * @param onCommit told when it is done and gateways hear of it
 */
export async function commitChange<T>(
  client: DatabaseClient,
  entry: NewAuditEntry,
  work: (change: Change) => Promise<T>,
  onCommit?: (committed: Committed) => void,
): Promise<T> {
  let committed: Committed | undefined;
  const keep = (told: Committed) => {
    committed = told;
  };
  try {
    const result = await client.$transaction((db) => runChange(db, entry, work, keep));
    if (committed !== undefined) onCommit?.(committed);
    return result;
  } catch (error) {
    throw fromDatabase(error);
  }
}

/** The same inside a transaction that is open. */
export async function runChange<T>(
  db: Database,
  entry: NewAuditEntry,
  work: (change: Change) => Promise<T>,
  onTold?: (committed: Committed) => void,
): Promise<T> {
  const head = await lockOrganisation(db, entry.organisationId);
  const workspaces = new Set<string>();
  const keys = new Set<string>();
  let organisationTouched = false;
  let isUnchanged = false;
  let written = entry;
  const further: NewAuditEntry[] = [];
  const result = await work({
    db,
    touchWorkspace: (id) => workspaces.add(id),
    touchKey: (id) => keys.add(id),
    touchOrganisation: () => {
      organisationTouched = true;
    },
    unchanged: () => {
      isUnchanged = true;
    },
    describe: (facts) => {
      written = withFacts(written, facts);
    },
    alsoRecord: (facts) => further.push(withFacts({ ...entry, requestBody: '' }, facts)),
  });
  if (isUnchanged) return result;
  const notices: ChangeNotice[] = await noteKeys(db, [...keys]);
  notices.push(...(await bumpRevisions(db, [...workspaces])));
  if (organisationTouched) notices.push({ organisation: entry.organisationId });
  await appendLocked(db, head, [written, ...further]);
  if (notices.length > 0) {
    const barrier = newId();
    await notify(db, notices, barrier);
    onTold?.({ notices, barrier });
  }
  return result;
}

/** So often the head of a chain may move on before what was to follow it is there; then it is locked. */
const triesWithoutLock = 3;

/**
 * Commits audit entries of one organisation with which nothing changes. Two statements, where a lock and its
 * transaction take four: whoever floods an admin API with what is refused has each of them written.
 */
export async function commitEntries(
  client: DatabaseClient,
  entries: readonly NewAuditEntry[],
): Promise<void> {
  const [first] = entries;
  if (first === undefined) return;
  for (let tries = 0; tries < triesWithoutLock; tries += 1) {
    const head = await readHead(client, first.organisationId);
    if (await appendEntries(client, head, entries)) return;
  }
  await client.$transaction(async (db) => {
    const head = await lockOrganisation(db, first.organisationId);
    await appendLocked(db, head, entries);
  });
}

function withFacts(entry: NewAuditEntry, facts: ChangeFacts): NewAuditEntry {
  const { before, after, ...others } = facts;
  const filled = { ...entry, ...others } as NewAuditEntry;
  const detail = { ...entry.detail, ...facts.detail };
  if (Object.keys(detail).length > 0) filled.detail = detail;
  if (before !== undefined) filled.before = maskedJson(before);
  if (after !== undefined) filled.after = maskedJson(after);
  return filled;
}

interface ChainHead {
  organisationId: string;
  sequence: bigint;
  hash: Buffer;
}

/** All changes of the organisation wait for a replica that hangs in the middle of one: they wait longer than that. */
const silenceMax = '10s';

/** Waits for the changes of this organisation that are under way, and holds up those to come. */
export function lockOrganisation(db: Database, id: string): Promise<ChainHead> {
  return readHead(db, id, {
    bound: Prisma.sql`, set_config('idle_in_transaction_session_timeout', ${silenceMax}, true)`,
    lock: Prisma.sql`FOR UPDATE`,
  });
}

/** As it is at this moment, unless it is locked. */
async function readHead(
  db: Database,
  id: string,
  { bound, lock } = { bound: Prisma.empty, lock: Prisma.empty },
): Promise<ChainHead> {
  const rows = await db.$queryRaw<{ audit_sequence: bigint; audit_hash: Uint8Array }[]>(
    Prisma.sql`SELECT audit_sequence, audit_hash ${bound} FROM organisations WHERE id = ${id}::uuid ${lock}`,
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`organisation ${id} does not exist`);
  return {
    organisationId: id,
    sequence: row.audit_sequence,
    hash: Buffer.from(row.audit_hash),
  };
}

async function bumpRevisions(db: Database, ids: string[]): Promise<ChangeNotice[]> {
  if (ids.length === 0) return [];
  const rows = await db.$queryRaw<{ id: string; revision: bigint }[]>(
    Prisma.sql`UPDATE workspaces SET revision = revision + 1 WHERE id = ANY(${ids}::uuid[]) RETURNING id::text, revision`,
  );
  return rows.map((row) => ({ workspace: row.id, revision: row.revision.toString() }));
}

/** For gateways that hear of it, and for those that are away. */
async function noteKeys(db: Database, keys: readonly string[]): Promise<KeyNotice[]> {
  if (keys.length === 0) return [];
  const mark = newId();
  // What became of a key by itself is noted by triggers; these changed with something else.
  await db.$executeRaw(Prisma.sql`SELECT note_key_changes(${keys}::uuid[])`);
  await db.$executeRaw(
    Prisma.sql`INSERT INTO key_marks VALUES (${mark}::uuid, clock_timestamp() - interval '1 minute')`,
  );
  const rows = await db.$queryRaw<{ key: string; of: string }[]>(
    Prisma.sql`SELECT key_id::text AS key, subject_id::text AS of FROM key_changes
      WHERE key_id = ANY(${keys}::uuid[])`,
  );
  return rows.map(({ key, of }) => ({ key, of, mark }));
}

/** What is kept of an entry, in no order of its own; each column is called like its field. */
const entryFields = [
  'id',
  'organisationId',
  'sequence',
  'timestamp',
  'method',
  'uri',
  'requestId',
  'requestBody',
  'queryParams',
  'requestHeaders',
  'userId',
  'userType',
  'apiKeyId',
  'workspaceId',
  'responseStatusCode',
  'resourceType',
  'resourceId',
  'action',
  'clientIp',
  'country',
  'detail',
  'before',
  'after',
  'previousHash',
  'hash',
] as const satisfies readonly (keyof Prisma.AuditEntryUncheckedCreateInput)[];

const columnOf = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter}`.toLowerCase());
const entryColumns = Prisma.raw(entryFields.map(columnOf).join(', '));

/**
 * One statement, and not one that Prisma compiles anew for each list of rows:
 * every change writes here, and every change that is refused.
 * False = the head of the chain has moved since it was read, and nothing was written.
 */
async function appendEntries(
  db: Database,
  head: ChainHead,
  entries: readonly NewAuditEntry[],
): Promise<boolean> {
  let { sequence, hash } = head;
  const rows = entries.map((entry) => {
    const previousHash = hash;
    sequence += 1n;
    const placed = {
      ...entry,
      sequence,
      detail: entry.detail === undefined ? null : JSON.stringify(entry.detail),
    };
    hash = entryHash(previousHash, canonicalEntry(placed));
    const row: Partial<Record<(typeof entryFields)[number], unknown>> = {
      ...placed,
      id: newId(),
      sequence: sequence.toString(),
      previousHash: byteaText(previousHash),
      hash: byteaText(hash),
    };
    return Object.fromEntries(entryFields.map((field) => [columnOf(field), row[field]]));
  });
  const written = await db.$executeRaw(
    Prisma.sql`WITH head AS (
        UPDATE organisations SET audit_sequence = ${sequence}, audit_hash = ${bytes(hash)}
        WHERE id = ${head.organisationId}::uuid AND audit_sequence = ${head.sequence}
        RETURNING id)
      INSERT INTO audit_entries (${entryColumns})
      SELECT ${entryColumns} FROM json_populate_recordset(NULL::audit_entries, ${JSON.stringify(rows)}::json)
      WHERE EXISTS (SELECT FROM head)`,
  );
  return written > 0;
}

async function appendLocked(
  db: Database,
  head: ChainHead,
  entries: readonly NewAuditEntry[],
): Promise<void> {
  if (!(await appendEntries(db, head, entries)))
    throw new Error(`the audit chain of ${head.organisationId} moved although it is locked`);
}

function byteaText(buffer: Buffer): string {
  return `\\x${buffer.toString('hex')}`;
}

/** Postgres delivers them in this order. */
async function notify(
  db: Database,
  notices: readonly ChangeNotice[],
  barrier: string,
): Promise<void> {
  const payloads = [...notices.map((notice) => JSON.stringify(notice)), barrier];
  const channels = [...notices.map(() => changesChannel), barriersChannel];
  await db.$executeRaw(
    Prisma.sql`SELECT pg_notify(channel, payload)
      FROM unnest(${channels}::text[], ${payloads}::text[]) WITH ORDINALITY AS told (channel, payload, place)
      ORDER BY place`,
  );
}

/** Prisma wants bytes in a buffer of their own. */
export function bytes(buffer: Buffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer);
}
