import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServiceKey as mintKey } from '@sluice/contracts';
import { type Access, generalFields } from '@sluice/contracts/admin';
import { inTurns, isLongForm } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isUuid } from '../src/kernel/names/ids.ts';
import { createContext, each, freshPath, type Sent, send, validCall } from './contract/call.ts';
import type { Context, PathValues } from './contract/example.ts';
import { pagedLedger } from './contract/ledger.ts';
import { type ContractCase, loadContract, titled } from './contract/load-contract.ts';
import {
  createUserKey,
  keyMaker,
  type MatrixCaller,
  people,
  type Size,
  sized,
} from './matrix/callers.ts';
import { openWorld } from './matrix/world.ts';
import { createServiceKey } from './support/fixture.ts';
import { type Harness, startHarness } from './support/harness.ts';

/**
 * Every operation by everybody: no key, a wrong one, each kind of key in three
 * sizes, each role, another workspace, another organisation. What each must
 * meet follows from the access that it declares; `matrix/matrix.txt` shows the
 * outcome for people to read. In the suite every operation meets one caller of
 * each kind, the sizes and roles in turns, and one that is not written down yet all of them; `npm run test:long` tries the product.
 */
const contract = titled(
  (await loadContract()).filter(({ endpoint }) => endpoint.plane !== 'public'),
);

let h: Harness;
let context: Context;
let world: Awaited<ReturnType<typeof openWorld>>;
let makeKey: ReturnType<typeof keyMaker>;
/** People whose standing is their organisation's, and those who are members of it with a role in the workspace. */
let ofOrganisation: MatrixCaller[];
let ofWorkspace: MatrixCaller[];
/** Keys of another workspace of the same organisation. */
let neighbours: [string, string][];
/** The name of that workspace. */
let otherSlug: string;
/** What each caller met at each operation. */
const outcomes = new Map<string, Map<string, number>>();

beforeAll(async () => {
  h = await startHarness({ analytics: pagedLedger });
  context = await createContext(h);
  world = await openWorld(h.env.DATABASE_URL);
  makeKey = keyMaker(h);
  const persons = await people(h);
  const isMember = ({ name }: MatrixCaller) => name.includes('organisation member');
  ofOrganisation = persons.filter((person) => !isMember(person));
  ofWorkspace = persons.filter(isMember);
  const made = await h.as(h.first.admin_key).post('/admin/workspaces', { name: 'Other' });
  otherSlug = made.body.slug;
  const other = await h.db.workspace.findFirstOrThrow({ where: { slug: otherSlug } });
  neighbours = [
    ['other workspace, service key', await createServiceKey(h, other.id)],
    ['other workspace, its admin', await createUserKey(h, 'member', other.id, 'admin')],
  ];
});
afterAll(async () => {
  await world.close();
  await h.stop();
});

interface Named {
  workspace_id?: string;
}

/** Where a caller who is let in is refused by what the call is about: the status, and why. */
const otherwise: readonly (readonly [
  operations: RegExp,
  callers: RegExp,
  status: number,
  why: string,
])[] = [
  [/^api-keys\.(create|update)$/, /its scopes only/, 403, 'gives scopes that it does not hold'],
  [/^api-keys\.rotate$/, /workspace-service, its scopes only/, 403, 'would see more than it holds'],
  [
    /^log-exports\.(read|update|start|cancel|download)$/,
    /user key/,
    404,
    'sees the exports of its user only',
  ],
  [
    /^mcp-servers\.connections\./,
    /workspace (manager|member)/,
    403,
    'names the connection of another',
  ],
  [/^workspace-members\.update$/, /workspace manager/, 403, 'gives a role above its own'],
];

/** The status that a caller who is let in must meet. */
function servedStatus({ id, example }: ContractCase, caller: string): number {
  // The example is about something that no workspace has: the organisation's, or another workspace.
  if (!example.callers.includes('workspace') && !caller.startsWith('organisation')) return 403;
  const found = otherwise.find(([ids, callers]) => ids.test(id) && callers.test(caller));
  return found?.[2] ?? 200;
}

const matrixFile = `${import.meta.dirname}/matrix/matrix.txt`;

const matrix = readMatrix();

/** What the long form wrote down, for those whom the short form leaves out. */
function readMatrix() {
  const [named = '', table = ''] = readFileSync(matrixFile, 'utf8').split('\n\n');
  const callers = named.split('\n').map((line) => line.replace(/^ *\d+ {2}/, ''));
  const rows = new Map(
    table.split('\n').map((line) => {
      const end = line.length - 5 * callers.length;
      return [line.slice(0, end).trimEnd(), line.slice(end).trim().split(/ +/)] as const;
    }),
  );
  return {
    callers,
    has: (title: string) => rows.has(title),
    outcome: (title: string, caller: string) => rows.get(title)?.[callers.indexOf(caller)],
  };
}

/** One of them in the suite, unless the operation is new: then all, as in the long form. */
const inTurnsOf = <T>(title: string, callers: readonly T[], turn: number): readonly T[] =>
  matrix.has(title) ? inTurns(callers, callers.length, turn) : callers;

const sizes: readonly Size[] = ['every scope', 'all but its scopes', 'its scopes only'];
const numbered = contract.map(([title, one], turn) => [title, one, turn] as const);
const refusal = { unauthorised: [401, 'AB05'], forbidden: [403, 'AB03'] } as const;

describe.each(numbered)('%s', (title, one, turn) => {
  /** What the refused meet: it is made once, as no call of theirs changes anything. */
  let call: Sent;
  let before: string;
  /** Of every two operations in a row both meet the same, so that not always the same ones go together. */
  const half = Math.floor(turn / 2);
  beforeAll(async () => {
    // An example of the settings leaves them as it wanted them.
    await world.resetSettings();
    call = await freshCall(one);
    before = await world.fingerprint();
  });

  it('does not show another organisation that something exists', async () => {
    const there = call.path ?? {};
    const nowhere = elsewhere(there);
    const strangers = [
      ['other organisation, organisation key', h.other.admin_key],
      ['other organisation, service key', h.other.workspace_key],
    ] as const;
    for (const [name, key] of inTurnsOf(title, strangers, turn)) {
      const answer = await attempt(one, key, call);
      note(title, name, answer.status);
      expect(answer.text).not.toContain(h.first.organisation_id);
      if (!isAimed(there)) continue;
      // The same words, to the letter, as for something that is nowhere.
      const absent = await attempt(one, key, { ...call, path: nowhere });
      expect([answer.status, answer.message]).toEqual([absent.status, absent.message]);
      expect([400, 403, 404], answer.text).toContain(answer.status);
    }
    const after = await world.fingerprint();
    // A create in their own organisation is theirs to make.
    if (isAimed(there)) expect(after).toBe(before);
    before = after;
  });

  it('does not reach into another workspace of the organisation', async () => {
    if (!isAimed(call.path ?? {})) return;
    for (const [name, key] of inTurnsOf(title, neighbours, half)) {
      const answer = await attempt(one, key, call);
      note(title, name, answer.status);
      expect([403, 404], answer.text).toContain(answer.status);
    }
    expect(await world.fingerprint()).toBe(before);
  });

  it('does nothing for an organisation key that names another workspace, or one that is not there', async () => {
    const { access } = one.endpoint;
    if (access === undefined || generalFields(access).length === 0) return;
    const isAway = isAimed(call.path ?? {});
    // What is of the organisation is in all of its workspaces; a copy says where it goes.
    if (isAway && (!one.example.callers.includes('workspace') || one.id.endsWith('.fork'))) return;
    const { workspace_id: _, ...body } = { ...(call.body as object | undefined) } as Named;
    const query = { ...call.query, workspace_id: isAway ? otherSlug : 'not-there' };
    const answer = await attempt(one, h.first.admin_key, {
      ...call,
      query,
      body: call.body && !Array.isArray(call.body) ? body : call.body,
    });
    expect(isAway ? [403, 404] : [404], answer.text).toContain(answer.status);
    expect(await world.fingerprint()).toBe(before);
  });

  it('serves whom its access lets in, and nobody else', async () => {
    const rule = one.endpoint.access as Access;
    const services = await Promise.all(
      (['organisation-service', 'workspace-service'] as const).flatMap((type, at) =>
        inTurnsOf(title, sizes, turn + at).map((size) => sized(makeKey, type, size, rule)),
      ),
    );
    const nobodies: MatrixCaller[] = [
      { name: 'no key', key: undefined, expected: () => 'unauthorised' },
      { name: 'a key of nobody', key: mintKey('sl_'), expected: () => 'unauthorised' },
    ];
    const callers: MatrixCaller[] = [
      ...inTurnsOf(title, nobodies, half),
      ...services.filter((caller) => caller !== undefined),
      ...inTurnsOf(title, ofOrganisation, turn),
      ...inTurnsOf(title, ofWorkspace, turn),
    ];
    const faults: string[] = [];
    // Their keys are made by now.
    before = await world.fingerprint();
    await each(callers, async (caller) => {
      const expected = caller.expected(rule);
      if (expected === 'served') return;
      const answer = await attempt(one, caller.key, call);
      note(title, caller.name, answer.status);
      const [status, code] = refusal[expected];
      if (answer.status !== status || answer.code !== code)
        faults.push(`${caller.name}: ${answer.status} ${answer.text}, not ${status} ${code}`);
    });
    expect(faults.join('\n')).toBe('');
    expect(await world.fingerprint(), 'a refused call changed something').toBe(before);
    for (const caller of callers) {
      if (caller.expected(rule) !== 'served') continue;
      // What only reads leaves the next the same to read.
      const served = one.endpoint.method === 'get' ? call : await freshCall(one);
      const answer = await attempt(one, caller.key, served);
      note(title, caller.name, answer.status);
      const status = servedStatus(one, caller.name);
      if (answer.status !== status)
        faults.push(`${caller.name}: ${answer.status} ${answer.text}, not ${status}`);
    }
    expect(faults.join('\n')).toBe('');
  });
});

/** Reads by id, by slug, and of a whole resource with its parts: look-ups of different weight. */
const timed = contract.filter(([, { id }]) =>
  ['api-keys.read', 'rate-limits-policies.read', 'integrations.read', 'workspaces.read'].includes(
    id,
  ),
);

describe('to another organisation', () => {
  it.each(inTurns(timed, 2))(
    '%s takes as long for what exists as for what does not',
    { timeout: 60_000 },
    async (_title, one) => {
      const there = await freshCall(one);
      const nowhere = { ...there, path: elsewhere(there.path ?? {}) };
      const took = { there: [] as number[], nowhere: [] as number[] };
      // In turns, so that whatever else the machine does is done to both.
      for (let round = 0; round < 60; round += 1)
        for (const [name, call] of [
          ['there', there],
          ['nowhere', nowhere],
        ] as const) {
          const startedAt = performance.now();
          await attempt(one, h.other.admin_key, call);
          took[name].push(performance.now() - startedAt);
        }
      const ratio = median(took.there) / median(took.nowhere);
      expect(ratio).toBeGreaterThan(0.6);
      expect(ratio).toBeLessThan(1.6);
    },
  );
});

function median(list: number[]): number {
  return list.sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN;
}

it('is as it is written down', async () => {
  const cases = [...outcomes.values()].reduce((sum, row) => sum + row.size, 0);
  process.stdout.write(`matrix: ${contract.length} operations, ${cases} cases\n`);
  expect(cases).toBeGreaterThan(isLongForm ? 2000 : 1300);
  const written = isLongForm ? undefined : matrix;
  // Everybody is met by some operation.
  const met = new Set([...outcomes.values()].flatMap((row) => [...row.keys()]));
  const callers = [...(written?.callers ?? met)].sort();
  expect([...met].sort()).toEqual(callers);
  const width = Math.max(...contract.map(([title]) => title.length));
  const shown = (title: string, caller: string) =>
    String(outcomes.get(title)?.get(caller) ?? written?.outcome(title, caller) ?? '-');
  const lines = [
    ...callers.map((caller, index) => `${String(index + 1).padStart(2)}  ${caller}`),
    '',
    `${' '.repeat(width)}${callers.map((_, index) => String(index + 1).padStart(5)).join('')}`,
    ...[...outcomes.keys()].map(
      (title) =>
        title.padEnd(width) + callers.map((caller) => shown(title, caller).padStart(5)).join(''),
    ),
  ];
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(matrixFile);
});

function note(title: string, caller: string, status: number): void {
  const row = outcomes.get(title) ?? new Map<string, number>();
  outcomes.set(title, row.set(caller, status));
}

/** Parameters of a path that name a kind, not a resource. */
const kinds = new Set(['type', 'sub-type', 'groupBy', 'metadataKey']);

function isAimed(path: PathValues): boolean {
  return Object.keys(path).some((name) => !kinds.has(name));
}

/** The same path with names that nobody gave to anything. */
function elsewhere(path: PathValues): PathValues {
  return Object.fromEntries(
    Object.entries(path).map(([name, value]) => [name, namesNothing(name, value)]),
  );
}

function namesNothing(parameter: string, value: string): string {
  if (kinds.has(parameter)) return value;
  return isUuid(value) ? randomUUID() : `${value.slice(0, -6)}${randomBytes(3).toString('hex')}`;
}

/** The example's call at a fresh resource, naming the first organisation's workspace wherever one may be named. */
async function freshCall(one: ContractCase): Promise<Sent> {
  return validCall(context, one, { path: await freshPath(context, one) });
}

async function attempt(one: ContractCase, key: string | undefined, call: Sent) {
  const answer = await send(h, one, { ...call, key });
  return {
    status: answer.status,
    text: answer.text,
    code: answer.body?.data?.errorCode as string | undefined,
    message: answer.body?.data?.message as string | undefined,
  };
}
