import { Parameters } from '../queries/parameters.ts';
import type { Reader } from '../queries/questions.ts';
import { chainStart, type Seal, sealHash } from './chain.ts';
import { nextDay } from './days.ts';
import { type Difference, nameRow } from './name-row.ts';
import { type Block, type Days, type Part, readLateParts, readParts } from './read-blocks.ts';
import { readChain } from './seal-rows.ts';

/** What does not fit: a row of the ledger, or an entry of the chain of seals. */
export interface SealFault {
  /** `seal-…` = of the chain; the first of these ends the search. */
  reason:
    | 'altered'
    | 'removed'
    | 'added'
    | 'replaced'
    | 'seal-altered'
    | 'seal-missing'
    | 'seal-unlinked';
  day: string;
  workspaceId: string;
  /** Of a seal: its place in the chain. */
  sequence?: number;
  table?: Block['table'];
  recordsDay?: string;
  hour?: number;
  /** How many rows more or less there are. */
  rows?: number;
  /** Of the row, where one alone differs in its hour. */
  recordId?: string;
}

/** Rows that came after their day was sealed: the next seal counts them. */
export interface LateRows {
  workspaceId: string;
  recordsDay: string;
  records: number;
  adjustments: number;
}

export interface SealVerdict {
  /** The first day whose records are kept, those of before were deleted by their age; empty = all are. */
  keptFrom: string;
  entries: number;
  sealedTo: string;
  headSequence: number;
  headHash: string;
  faults: SealFault[];
  late: LateRows[];
}

/** In one answer. */
const faultsMax = 100;

/** Walks the chain of an organisation, and compares what is sealed of the days from `since` on with the rows as they are. */
export async function verifyOrganisation(
  client: Reader,
  { organisationId, since }: { organisationId: string; since: string },
): Promise<SealVerdict> {
  const keptFrom = await readKeptFrom(client, organisationId);
  const verdict: SealVerdict = {
    keptFrom,
    entries: 0,
    sealedTo: '',
    headSequence: 0,
    headHash: chainStart,
    faults: [],
    late: [],
  };
  let parts: Seal[] = [];
  let from = '';
  /** What was sealed of the days from `from` on against their rows. */
  const compareTo = async (to: string) => {
    const start = [since, from, keptFrom].sort().at(-1) ?? from;
    const kept = parts.filter(({ recordsDay }) => recordsDay >= keptFrom);
    const found = await compare(client, { organisationId, from: start, to }, kept, keptFrom);
    verdict.faults.push(...found.slice(0, faultsMax - verdict.faults.length));
    parts = [];
    from = nextDay(to);
  };
  walk: for await (const page of readChain(client, organisationId))
    for (const seal of page) {
      from ||= seal.day;
      const reason = chainFault(seal, verdict);
      if (reason !== undefined) {
        const { day, workspaceId } = seal;
        const sequence = reason === 'seal-missing' ? verdict.headSequence + 1 : seal.sequence;
        verdict.faults.push({ reason, day, workspaceId, sequence });
        break walk;
      }
      verdict.entries += 1;
      verdict.headSequence = seal.sequence;
      verdict.headHash = seal.hash;
      if (seal.kind === 'part' && seal.day >= since) parts.push(seal);
      if (seal.kind === 'day') verdict.sealedTo = seal.day;
      if (seal.kind === 'day' && parts.length >= partsMax) await compareTo(seal.day);
    }
  const { sealedTo } = verdict;
  if (sealedTo === '') return verdict;
  parts = parts.filter(({ day }) => day <= sealedTo);
  if (from <= sealedTo) await compareTo(sealedTo);
  // Behind a fault of the chain nobody knows what is sealed.
  if (!verdict.faults.some(({ sequence }) => sequence !== undefined))
    verdict.late = await readLate(client, { organisationId, sealedTo });
  return verdict;
}

/** Held at once, with a few kilobytes each. */
const partsMax = 5000;

async function compare(
  client: Reader,
  days: Days,
  sealed: readonly Seal[],
  keptFrom: string,
): Promise<SealFault[]> {
  if (days.from > days.to) return [];
  const places = new Map<string, { was?: Seal; is?: Part }>();
  for (const seal of sealed) places.set(placeOf(seal), { was: seal });
  // What is left of days that are deleted goes with the next merge.
  for (const part of await readParts(client, days))
    if (part.recordsDay >= keptFrom)
      places.set(placeOf(part), { ...places.get(placeOf(part)), is: part });
  const faults: SealFault[] = [];
  for (const { was, is } of places.values())
    for (const difference of differencesOf(days.organisationId, was, is))
      if (faults.length < faultsMax) faults.push(await faultOf(client, difference));
  return faults;
}

async function readLate(
  client: Reader,
  { organisationId, sealedTo }: { organisationId: string; sealedTo: string },
): Promise<LateRows[]> {
  const parts = await readLateParts(client, { organisationId, from: nextDay(sealedTo) });
  return parts
    .filter(({ recordsDay }) => recordsDay <= sealedTo)
    .map(({ workspaceId, recordsDay, records, adjustments }) => ({
      workspaceId,
      recordsDay,
      records,
      adjustments,
    }));
}

async function readKeptFrom(client: Reader, organisationId: string): Promise<string> {
  const parameters = new Parameters();
  const result = await client.query({
    query: `SELECT toString(argMax(before, (organisation_id != '', before))) AS day, toUInt32(count()) AS known
      FROM retention_cutoffs
      WHERE grain = 'logs' AND organisation_id IN ('', ${parameters.bind('String', organisationId)})`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ day: string; known: number }>();
  return row === undefined || row.known === 0 ? '' : row.day;
}

function chainFault(
  seal: Seal,
  head: Pick<SealVerdict, 'headSequence' | 'headHash'>,
): SealFault['reason'] | undefined {
  if (seal.sequence !== head.headSequence + 1) return 'seal-missing';
  if (sealHash(seal) !== seal.hash) return 'seal-altered';
  return seal.previousHash === head.headHash ? undefined : 'seal-unlinked';
}

function placeOf({
  day,
  workspaceId,
  recordsDay,
}: Pick<Part, 'day' | 'workspaceId' | 'recordsDay'>): string {
  return [day, workspaceId, recordsDay].join('\0');
}

/** The hours in which what is sealed and what is there are not the same. */
function* differencesOf(
  organisationId: string,
  was: Seal | undefined,
  is: Part | undefined,
): Generator<Difference> {
  const place = was ?? is;
  if (place === undefined) return;
  const { day, workspaceId, recordsDay } = place;
  const before = new Map(
    (JSON.parse(was?.blocks ?? '[]') as Block[]).map((block) => [hourOf(block), block]),
  );
  const after = new Map((is?.blocks ?? []).map((block) => [hourOf(block), block]));
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [old, own] = [before.get(key), after.get(key)];
    const block = old ?? own;
    if (block === undefined || old?.digest === own?.digest) continue;
    const { table, hour } = block;
    yield { organisationId, day, workspaceId, recordsDay, table, hour, was: old, is: own };
  }
}

function hourOf({ table, hour }: Block): string {
  return `${table} ${hour}`;
}

async function faultOf(client: Reader, difference: Difference): Promise<SealFault> {
  const { day, workspaceId, recordsDay, table, hour, was, is } = difference;
  const rows = (is?.count ?? 0) - (was?.count ?? 0);
  const isOther = was !== undefined && is !== undefined && rows === 0 && was.ids !== is.ids;
  const recordId = await nameRow(client, difference);
  return {
    reason: rows < 0 ? 'removed' : rows > 0 ? 'added' : isOther ? 'replaced' : 'altered',
    day,
    workspaceId,
    recordsDay,
    table,
    hour,
    rows,
    ...(recordId !== undefined && { recordId }),
  };
}
