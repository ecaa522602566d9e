import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../src/authorisation/table.ts';
import { refusal } from './contract/answers.ts';
import { withValue, wrongValues } from './contract/fields.ts';
import { type ContractOperation, contract, type Known } from './contract/operations.ts';
import { type Kind, type Made, maker } from './contract/resources.ts';
import { createServiceKey } from './fixture.ts';
import { type Harness, startHarness } from './harness.ts';

let h: Harness;
let known: Known;
let make: (kind: Kind) => Promise<Made>;
let narrowKeys: Record<'admin' | 'workspace', string>;

beforeAll(async () => {
  h = await startHarness({
    analytics: {
      getGraph: async () => ({
        summary: { total: 3, avg: 1.5, p50: 2, p90: 3, p99: 4 },
        dataPoints: [{ timestampMs: 1735689600000n, values: { total: 3, avg: 1.5, p50: 2 } }],
      }),
      listGroups: async () => ({ total: 1n, rows: [{ value: 'gpt-4o', requests: 7n, cost: 1 }] }),
    },
  });
  make = maker(h);
  const owner = await h.db.user.findFirstOrThrow({
    where: { organisationId: h.first.organisation_id },
  });
  const [config, integration] = await Promise.all([make('config'), make('integration')]);
  known = {
    organisationId: h.first.organisation_id,
    workspaceId: h.first.workspace_id,
    ownerId: owner.id,
    configSlug: config.references[0] ?? '',
    integrationSlug: integration.references[0] ?? '',
  };
  const narrow = await h.as(h.first.admin_key).post('/api-keys/organisation/service', {
    name: 'Narrow',
    scopes: ['deployments.list'],
  });
  narrowKeys = {
    admin: narrow.body.key,
    workspace: await createServiceKey(h, h.first.workspace_id, ['prompts.render']),
  };
});
afterAll(() => h.stop());

const keyOf = (caller: 'admin' | 'workspace') =>
  caller === 'admin' ? h.first.admin_key : h.first.workspace_key;

interface Sent {
  key?: string;
  id?: string;
  query?: Record<string, string>;
  body?: unknown;
}

function send(operation: ContractOperation, { key, id, query = {}, body }: Sent) {
  const path = operation.path.replace('{id}', encodeURIComponent(id ?? ''));
  const caller = h.as(key)[operation.method];
  return caller(`${path}?${new URLSearchParams(query)}`, body as object | undefined);
}

/** How an organisation key says which workspace it means: not at all, by slug, by UUID. */
function workspaceNames(operation: ContractOperation, caller: 'admin' | 'workspace') {
  if (caller === 'workspace' || operation.names === undefined) return [undefined];
  return [h.first.workspace_slug, h.first.workspace_id];
}

const titled = contract.map(
  (operation) => [`${operation.method.toUpperCase()} ${operation.path}`, operation] as const,
);

/** Many requests, a few at a time. */
async function each<T>(list: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...list];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}

it('covers every operation there is', () => {
  const covered = new Set<string>(contract.map((operation) => operation.id));
  const elsewhere = ['integrations.workspaces.update'];
  expect(Object.keys(operations).filter((id) => !covered.has(id))).toEqual(elsewhere);
});

describe('every operation', () => {
  it.each(titled)('%s answers in its published shape', async (_title, operation) => {
    const faults: string[] = [];
    for (const caller of operation.callers)
      for (const named of workspaceNames(operation, caller)) {
        // What is deleted or rotated is gone, so each way of naming gets a resource of its own.
        const ways = operation.of === undefined ? 1 : (await make(operation.of)).references.length;
        for (let way = 0; way < ways; way += 1) {
          const made = operation.of === undefined ? undefined : await make(operation.of);
          const workspace: Record<string, string> =
            named === undefined ? {} : { workspace_id: named };
          const answer = await send(operation, {
            key: keyOf(caller),
            id: made?.references[way],
            query: { ...operation.query, ...(operation.names === 'query' ? workspace : {}) },
            // Fields that nobody knows are no fault.
            body: operation.body && {
              ...operation.body(known),
              ...(operation.names === 'body' ? workspace : {}),
              a_field_of_tomorrow: { key: 'value' },
            },
          });
          const at = `${caller} ${named ?? ''} ${made?.references[way] ?? ''}`;
          if (answer.status !== 200) faults.push(`${at}: ${answer.status} ${answer.text}`);
          else faults.push(...operation.answer(answer.body, at));
        }
      }
    expect(faults.slice(0, 40).join('\n')).toBe('');
  });

  it.each(titled)('%s refuses by the published codes', async (_title, operation) => {
    const caller = operation.callers[0] ?? 'admin';
    const made = operation.of === undefined ? undefined : await make(operation.of);
    const body = operation.body?.(known);
    const query = { ...operation.query, workspace_id: h.first.workspace_slug };
    const valid = { id: made?.id, body, query };
    const others = { ...operation.query, workspace_id: h.other.workspace_slug };
    const cases: [string, Sent, number, string][] = [
      ['no key', valid, 401, 'AB05'],
      ['a wrong key', { ...valid, key: `${keyOf(caller)}x` }, 401, 'AB05'],
      ['a key without the scope', { ...valid, key: narrowKeys[caller] }, 403, 'AB03'],
    ];
    if (!operation.callers.includes('workspace'))
      cases.push(['a kind of key', { ...valid, key: h.first.workspace_key }, 403, 'AB03']);
    if (operation.of !== undefined)
      cases.push(
        ['nothing', { ...valid, key: keyOf(caller), id: randomUUID() }, 404, 'AB08'],
        ['another’s', { ...valid, key: h.other.admin_key, query: others }, 404, 'AB08'],
      );
    if (operation.fields !== undefined) {
      cases.push(['a list', { ...valid, key: keyOf(caller), body: [] }, 400, 'AB01']);
      if (operation.bodyOptional === undefined)
        cases.push(['no body', { ...valid, key: keyOf(caller), body: undefined }, 400, 'AB01']);
    }
    for (const [name, sent, status, code] of cases) {
      const answer = await send(operation, sent);
      expect([name, answer.status, answer.body.data?.errorCode]).toEqual([name, status, code]);
      expect(refusal(answer.body, name)).toEqual([]);
    }
  });
});

describe('every field of a body', () => {
  const withFields = titled.filter(([, operation]) => operation.fields !== undefined);
  it.each(withFields)('of %s is refused when its type is wrong', async (_title, operation) => {
    const caller = operation.callers.includes('workspace') ? 'workspace' : 'admin';
    const made = operation.of === undefined ? undefined : await make(operation.of);
    // Every second value, another half at the next field: all of them meet each kind of field.
    const wrong = Object.entries(operation.fields ?? {}).flatMap(([path, kind], at) =>
      wrongValues(kind)
        .filter((_value, index) => (index + at) % 2 === 0)
        .map((value) => ({ path, value })),
    );
    const faults: string[] = [];
    await each(wrong, async ({ path, value }) => {
      const body = withValue(operation.body?.(known), path, value);
      const answer = await send(operation, { key: keyOf(caller), id: made?.id, body });
      const { errorCode, field = '' } = answer.body.data ?? {};
      const top = `body.${path.split('.')[0]}`;
      if (answer.status !== 400 || errorCode !== 'AB01' || !String(field).startsWith(top))
        faults.push(`${path} = ${JSON.stringify(value)}: ${answer.status} ${errorCode} ${field}`);
    });
    expect(faults.slice(0, 40).join('\n')).toBe('');
  });
});

describe('every parameter of a query', () => {
  const withQuery = titled.filter(([, operation]) => operation.queryFields !== undefined);
  it.each(withQuery)('of %s is refused when its type is wrong', async (_title, operation) => {
    const made = operation.of === undefined ? undefined : await make(operation.of);
    const wrong = Object.entries(operation.queryFields ?? {}).flatMap(([name, kind]) =>
      wrongValues(kind)
        .filter((value) => typeof value === 'string')
        .map((value) => ({ name, value })),
    );
    const query = {
      ...operation.query,
      ...(operation.names === undefined ? {} : { workspace_id: h.first.workspace_slug }),
    };
    const faults: string[] = [];
    await each(wrong, async ({ name, value }) => {
      const answer = await send(operation, {
        key: h.first.admin_key,
        id: made?.id,
        query: { ...query, [name]: value },
      });
      const { errorCode, field } = answer.body.data ?? {};
      if (answer.status !== 400 || errorCode !== 'AB01' || !field?.startsWith(`query.${name}`))
        faults.push(`${name}=${value}: ${answer.status} ${errorCode} ${field}`);
    });
    expect(faults.slice(0, 40).join('\n')).toBe('');
  });

  const lists = titled.filter(([, operation]) => operation.queryFields?.page_size !== undefined);
  it.each(lists)('of %s pages from 0, in either spelling', async (_title, operation) => {
    const sizeMax = operation.id === 'audit-logs.list' ? 100 : 1000;
    const page = async (query: Record<string, string>) => {
      const answer = await send(operation, {
        key: h.first.admin_key,
        query: {
          ...operation.query,
          ...(operation.names === undefined ? {} : { workspace_id: h.first.workspace_slug }),
          ...query,
        },
      });
      expect(answer.status, answer.text).toBe(200);
      return { total: answer.body.total, rows: answer.body.data ?? answer.body.records };
    };
    const all = await page({ page_size: String(sizeMax) });
    expect(all.total).toBeGreaterThan(0);
    // The ledger, which is another's, does its own paging.
    if (operation.id.startsWith('analytics')) return;
    expect((await page({ page_size: '0' })).rows).toEqual([]);
    expect((await page({ page_size: '1' })).rows).toEqual(all.rows.slice(0, 1));
    expect((await page({ currentPage: '1', pageSize: '1' })).rows).toEqual(all.rows.slice(1, 2));
    expect((await page({ current_page: '1000000' })).rows).toEqual([]);
    const over = { ...operation.query, page_size: String(sizeMax + 1) };
    expect((await send(operation, { key: h.first.admin_key, query: over })).status).toBe(400);
  });
});
