import { randomUUID } from 'node:crypto';
import { type Access, adminEndpoints, type Endpoint } from '@sluice/contracts/admin';
import { inTurns } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queryParameters } from '../src/kernel/openapi/parameters.ts';
import { createContext, each, freshPath, type Sent, send, validCall } from './contract/call.ts';
import { answeredElsewhere, coverageLine, leftOut } from './contract/coverage.ts';
import type { Context } from './contract/example.ts';
import { answerFaults, refusalFaults } from './contract/faults.ts';
import { pagedLedger } from './contract/ledger.ts';
import { type ContractCase, loadContract, titled } from './contract/load-contract.ts';
import { publishedOperations } from './contract/published.ts';
import { exampleFaults, writeExamples } from './contract/recorded.ts';
import { withValue, wrongParameters, wrongValues } from './contract/wrong-values.ts';
import { createServiceKey } from './support/fixture.ts';
import { type Harness, startHarness } from './support/harness.ts';

const contract = await loadContract();

let h: Harness;
let context: Context;
/** Keys with no scope that an operation of the contract asks for. */
let narrowKeys: Record<'admin' | 'workspace', string>;

beforeAll(async () => {
  h = await startHarness({ analytics: pagedLedger });
  context = await createContext(h);
  const narrow = await h.as(h.first.admin_key).post('/api-keys/organisation/service', {
    name: 'Narrow',
    scopes: ['deployments.list'],
  });
  narrowKeys = {
    admin: narrow.body.key,
    workspace: await createServiceKey(h, h.first.workspace_id, ['mcp.invoke']),
  };
});
afterAll(async () => {
  writeExamples();
  await h.stop();
});

/** Some operations have hundreds of fields, and a call for each way to get one wrong. */
const manyCallsMs = 120_000;

const shown = (faults: readonly string[]) => faults.slice(0, 40).join('\n');

it('covers every operation, but for those that are named', () => {
  const covered = new Set(contract.map(({ endpoint }) => endpoint.operationId));
  const published = publishedOperations.map(({ operationId }) => operationId);
  process.stdout.write(`${coverageLine(published, covered)}\n`);
  const named = new Set(Object.keys({ ...leftOut, ...answeredElsewhere }));
  const ours = Object.values(adminEndpoints).map(({ operationId }) => operationId);
  const all = [...new Set([...published, ...ours])];
  expect(all.filter((id) => !covered.has(id) && !named.has(id))).toEqual([]);
  expect([...named].filter((id) => covered.has(id) || !published.includes(id))).toEqual([]);
});

describe('every operation', () => {
  it.each(titled(contract))('%s answers in its published shape', async (_title, one) => {
    const { example } = one;
    const faults: string[] = [];
    let first: { sent: Sent; answer: unknown } | undefined;
    const { resource, ways } = await resourcesOf(one);
    const [usual, ...others] = example.callers.flatMap((who) => {
      const workspaces =
        who === 'workspace' || example.names === undefined
          ? [undefined]
          : [context.workspaceSlug, context.workspaceId];
      return workspaces.flatMap((workspace) =>
        Array.from({ length: ways }, (_, way) => ({ who, workspace, way })),
      );
    });
    // In the suite a sixth of the other spellings, and the next operations those that are left (`npm run abuse`: all).
    for (const call of [usual, ...inTurns(others, 6, contract.indexOf(one))]) {
      if (call === undefined) continue;
      const { who, workspace, way } = call;
      const path = (await resource())[way];
      const sent = await validCall(context, one, { who, workspace, path });
      // What nobody knows is told to lenient callers, and nothing else of a valid call is.
      const body = sent.body && { ...sent.body, ...tomorrow };
      const query = { ...sent.query, parameter_of_tomorrow: '1' };
      const answer = await send(h, one, { ...sent, query, body, isLenient: true });
      const at = [who, workspace, ...Object.values(path ?? {})].join(' ');
      first ??= { sent, answer: answer.body };
      faults.push(...answerFaults(one, answer, at), ...warningFaults(one, answer, at));
    }
    if (first !== undefined && one === contract.find(({ id }) => id === one.id))
      faults.push(...(await documentedFaults(one, first)));
    expect(shown(faults)).toBe('');
  });

  /** Resources for calls of the operation, each by all of its names. What is deleted is gone; what only reads leaves it to the next. */
  async function resourcesOf({ endpoint, example }: ContractCase) {
    const make = async () => (await example.path?.(context)) ?? [undefined];
    let made = await make();
    let isFresh = true;
    const resource = async () => {
      if (!isFresh && endpoint.method !== 'get') made = await make();
      isFresh = false;
      return made;
    };
    return { resource, ways: made.length };
  }

  /**
   * The first call is what the document shows. Of the query of what only reads that is what has to be there:
   * filters are for who has something to filter.
   */
  async function documentedFaults(
    one: ContractCase,
    first: { sent: Sent; answer: unknown },
  ): Promise<string[]> {
    const parameters = queryParameters(one.endpoint.query);
    const isShown = (name: string) =>
      one.endpoint.method !== 'get' ||
      parameters[name]?.required !== false ||
      name === 'workspace_id';
    const all = Object.entries(first.sent.query ?? {});
    const sent = {
      ...first.sent,
      query: Object.fromEntries(all.filter(([name]) => isShown(name))),
    };
    if (all.every(([name]) => isShown(name)))
      return exampleFaults(context, one, sent, first.answer);
    const answer = await send(h, one, sent);
    return [
      ...answerFaults(one, answer, 'as documented'),
      ...exampleFaults(context, one, sent, answer.body),
    ];
  }

  it.each(titled(contract))('%s refuses by the published codes', async (_title, one) => {
    const faults: string[] = [];
    // In the suite a quarter of them, and the next operations the others (`npm run abuse`: all).
    const cases = inTurns(await refusals(one), 4, contract.indexOf(one));
    for (const [name, sent, status, code] of cases) {
      const answer = await send(h, one, sent);
      faults.push(...refusalFaults(one, answer, { status, code }, name));
    }
    expect(shown(faults)).toBe('');
  });
});

const tomorrow = { field_of_tomorrow: { key: 'value' } };

/** Lists of prices are files, as their readers find them elsewhere; links have what mailers append. */
const takesAnyParameter = ({ errorForm, plane, method }: Endpoint) =>
  errorForm === 'text' || (plane === 'public' && method === 'get');

/** What is wrong with the warnings of a call that had one strange field and one strange parameter. */
function warningFaults(
  { endpoint }: ContractCase,
  answer: { status: number; body: unknown },
  at: string,
): string[] {
  // Nothing can be told beside lines.
  if (endpoint.lines === true) return [];
  const { warnings = [] } = answer.body as { warnings?: string[] };
  // A virtual key has a field for each setting of each provider; some of what is published is only kept, or does nothing
  // beside the rest of the example.
  const ofInput = warnings.filter(
    (each) =>
      !/is no setting of \S+, and does|is kept, and does nothing yet|: does nothing: /.test(each),
  );
  const told = ofInput.map((each) => each.split(':', 1)[0]).sort();
  const isTold = endpoint.body !== undefined;
  if (takesAnyParameter(endpoint)) return [];
  const due = [...(isTold ? ['body.field_of_tomorrow'] : []), 'query.parameter_of_tomorrow'];
  return answer.status === 200 && !Array.isArray(answer.body) && `${told}` !== `${due}`
    ? [`${at}: warns of ${warnings}`]
    : [];
}

/** Calls that must not succeed, with the status and the code that each must meet. */
async function refusals(one: ContractCase): Promise<[string, Sent, number, string][]> {
  const { endpoint, example } = one;
  const who = example.callers[0] ?? 'admin';
  const path = await freshPath(context, one);
  const valid = await validCall(context, one, { who, path });
  const missing = [example.missing ?? 404, example.missing === 403 ? 'AB03' : 'AB08'] as const;
  const cases: [string, Sent, number, string][] = [];
  if (endpoint.plane !== 'public') {
    cases.push(
      ['no key', { ...valid, key: undefined }, 401, 'AB05'],
      ['a wrong key', { ...valid, key: `${valid.key}x` }, 401, 'AB05'],
      ['a key without the scope', { ...valid, key: narrowKeys[who] }, 403, 'AB03'],
    );
    const { keys } = endpoint.access as Access;
    for (const [kind, key] of [
      ['organisation-service', h.first.admin_key],
      ['workspace-service', h.first.workspace_key],
    ] as const)
      if (!keys.includes(kind)) cases.push([`a key: ${kind}`, { ...valid, key }, 403, 'AB03']);
  }
  for (const name of example.pathNamesKind === 'any' ? [] : Object.keys(path))
    cases.push([
      `nothing at ${name}`,
      { ...valid, path: { ...path, [name]: randomUUID() } },
      ...missing,
    ]);
  const namesResource = example.path !== undefined && example.pathNamesKind === undefined;
  if (namesResource && endpoint.plane !== 'public') {
    const theirs = { workspace_id: h.other.workspace_slug };
    const key = who === 'admin' ? h.other.admin_key : h.other.workspace_key;
    const query = example.names === 'query' ? { ...valid.query, ...theirs } : valid.query;
    const body = example.names === 'body' ? { ...(valid.body as object), ...theirs } : valid.body;
    cases.push(['another organisation’s', { ...valid, key, query, body }, ...missing]);
  }
  if (!takesAnyParameter(endpoint))
    cases.push([
      'a parameter of tomorrow',
      { ...valid, query: { ...valid.query, tomorrow: '1' } },
      400,
      'AB01',
    ]);
  if (endpoint.body !== undefined)
    cases.push([
      'a field of tomorrow',
      { ...valid, body: { ...(valid.body as object), ...tomorrow } },
      400,
      'AB01',
    ]);
  if (endpoint.body !== undefined)
    for (const body of ['{"name": ', [], undefined])
      if (typeof body === 'string' || !endpoint.body.safeParse(body).success)
        cases.push([`the body ${body}`, { ...valid, body }, 400, 'AB01']);
  return cases;
}

describe('every field of a body', () => {
  const withBody = contract.filter(({ endpoint }) => endpoint.body !== undefined);
  it.each(titled(withBody))(
    'of %s is refused when it is wrong',
    { timeout: manyCallsMs },
    async (_title, one) => {
      const { body: schema } = one.endpoint;
      const who = one.example.callers.includes('workspace') ? 'workspace' : 'admin';
      const valid = await validCall(context, one, { who, path: await freshPath(context, one) });
      const wrong = schema === undefined ? [] : wrongValues(schema, valid.body);
      const refused = new Set(wrong.map(({ path }) => path[0]));
      const faults = Object.keys((valid.body as object | undefined) ?? {})
        .filter((name) => !refused.has(name))
        .map((name) => `body.${name}: takes anything`);
      await each(wrong, async ({ path, value, faultIn }) => {
        const answer = await send(h, one, { ...valid, body: withValue(valid.body, path, value) });
        const { errorCode, field = '' } = answer.body.data ?? {};
        const told = faultIn.some((at) => field.startsWith(at));
        if (answer.status === 400 && errorCode === 'AB01' && told) return;
        const sent = JSON.stringify(value)?.slice(0, 60);
        faults.push(`${path.join('.')} = ${sent}: ${answer.status} ${errorCode} ${field}`);
      });
      expect(shown(faults)).toBe('');
    },
  );
});

describe('every parameter of a query', () => {
  const withQuery = contract.filter(({ endpoint }) => endpoint.query !== undefined);
  it.each(titled(withQuery))(
    'of %s is refused when it is wrong',
    { timeout: manyCallsMs },
    async (_title, one) => {
      const valid = await validCall(context, one, { path: await freshPath(context, one) });
      const { query: schema } = one.endpoint;
      const query = valid.query as Record<string, string>;
      const faults: string[] = [];
      await each(schema === undefined ? [] : wrongParameters(schema, query), async (wrong) => {
        const { [wrong.name]: _valid, ...others } = query;
        const answer = await send(h, one, {
          ...valid,
          query: wrong.value === undefined ? others : { ...others, [wrong.name]: wrong.value },
        });
        const { errorCode, field = '' } = answer.body.data ?? {};
        if (
          answer.status !== 400 ||
          errorCode !== 'AB01' ||
          !field.startsWith(`query.${wrong.name}`)
        )
          faults.push(`${wrong.name}=${wrong.value}: ${answer.status} ${errorCode} ${field}`);
      });
      expect(shown(faults)).toBe('');
    },
  );
});

describe('every list', () => {
  // What is paged by a cursor has no numbers of pages.
  const lists = contract.filter(({ endpoint }) => {
    const parameters = queryParameters(endpoint.query);
    return 'page_size' in parameters && !('cursor' in parameters);
  });
  // In the suite a third of them (`npm run abuse`: all).
  it.each(inTurns(titled(lists), 3))(
    '%s pages, in each spelling, up to its limit',
    async (_title, one) => {
      const { page, page_size: size, currentPage } = queryParameters(one.endpoint.query);
      const { minimum = 0, maximum = 0 } = (size?.schema ?? {}) as Record<string, number>;
      await addRows(one);
      const valid = await validCall(context, one, { path: await freshPath(context, one) });
      const others = Object.entries(valid.query ?? {}).filter(([name]) => !/page/i.test(name));
      const rowsOf = async (query: Record<string, string>) => {
        const answer = await send(h, one, {
          ...valid,
          query: { ...Object.fromEntries(others), ...query },
        });
        expect(answer.status, answer.text).toBe(200);
        return [answer.body, ...Object.values(answer.body)].find(Array.isArray) as unknown[];
      };
      const all = await rowsOf({ page_size: String(maximum) });
      const first = (page?.schema.minimum as number | undefined) ?? 0;
      const named = page === undefined ? 'current_page' : 'page';
      expect(await rowsOf({ page_size: '1' })).toEqual(all.slice(0, 1));
      expect(await rowsOf({ [named]: `${first + 1}`, page_size: '1' })).toEqual(all.slice(1, 2));
      expect(await rowsOf({ [named]: '1000000' })).toEqual([]);
      if (minimum === 0) expect(await rowsOf({ page_size: '0' })).toEqual([]);
      if (currentPage !== undefined)
        expect(await rowsOf({ currentPage: '1', pageSize: '1' })).toEqual(all.slice(1, 2));
    },
  );

  /** Two more of what is listed, where a call without a path makes it. */
  async function addRows(one: ContractCase): Promise<void> {
    const maker = contract.find(({ id }) => id === one.id.replace(/list$/, 'create'));
    if (maker === undefined || maker === one || maker.example.path !== undefined) return;
    for (let made = 0; made < 2; made += 1)
      expect((await send(h, maker, await validCall(context, maker))).status).toBe(200);
  }
});
