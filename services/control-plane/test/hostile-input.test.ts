import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Endpoint, type EndpointId, errorBodies } from '@sluice/contracts/admin';
import { inTurns } from '@sluice/testkit';
import type { Response } from 'supertest';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { pathParameters, queryParameters } from '../src/kernel/openapi/parameters.ts';
import { createContext, each, freshPath, type Sent, send, validCall } from './contract/call.ts';
import type { Context } from './contract/example.ts';
import { shapeFaults } from './contract/faults.ts';
import { type ContractCase, loadContract } from './contract/load-contract.ts';
import { pathsOf, valueAt, withValue } from './contract/wrong-values.ts';
import { brokenLink } from './support/audit-chain.ts';
import { type Harness, startHarness } from './support/harness.ts';
import { readAs } from './support/read-as.ts';

const contract = await loadContract();
const withBody = contract.filter(({ endpoint }) => endpoint.body !== undefined);
const caseOf = (id: EndpointId) => contract.find((one) => one.id === id) as ContractCase;

let h: Harness;
let context: Context;
/** Every change that was tried, refused ones too, and what it is called in the log. */
const changes: { requestId: string; kind: string }[] = [];
/** After which all was as before. */
const unchanged: string[] = [];
/** What may happen with a change of another kind; it has an entry of its own. */
const alongside = ['scim_groups create', 'users create', 'api_keys create'];
const secrets: string[] = [];

beforeAll(async () => {
  h = await startHarness({
    analytics: { getGraph: async () => ({}), listGroups: async () => ({}) },
  });
  context = await createContext(h);
  secrets.push(h.first.admin_key, h.first.workspace_key);
});
afterAll(() => h.stop());
afterEach(async () => {
  await h.as(h.first.workspace_key).get('/configs').expect(200);
});

/** Somebody who may, by the narrower key where there are two. */
const whoOf = ({ example }: ContractCase) =>
  example.callers.includes('workspace') ? ('workspace' as const) : ('admin' as const);

/** A call that is valid, of something that is not there: nothing changes. */
async function callOfNothing(one: ContractCase): Promise<Sent> {
  const names = pathParameters(one.endpoint.path);
  const path = one.example.pathNamesKind
    ? await freshPath(context, one)
    : Object.fromEntries(names.map((name) => [name, '01a1fdbe-8057-7879-bf32-a1bd9cc52163']));
  return validCall(context, one, { who: whoOf(one), path });
}

/** Notes the change, and what is wrong with the answer to something nobody should send. */
function faultsOf(answer: Response, at: string, one: ContractCase): string[] {
  noteChange(answer, one);
  if (answer.status === 200) return [];
  if (answer.status >= 500) return [`${at}: ${answer.status} ${answer.text}`];
  return shapeFaults(errorBodies[one.endpoint.errorForm ?? 'usual'], answer.body, at);
}

function noteChange(answer: Response, one: ContractCase): void {
  const audit = auditOf(one, answer.status);
  const requestId = answer.headers['x-service-request-id'] ?? '';
  if (answer.headers['x-service-unchanged'] === 'true') unchanged.push(requestId);
  else if (audit !== undefined)
    changes.push({
      requestId,
      kind: `${audit.resourceType} ${audit.action}`,
    });
}

/** Feedback and tests of connections are no changes to what is set up. */
function auditOf({ id, endpoint }: ContractCase, status: number): Endpoint['audit'] {
  if (endpoint.plane !== 'public') return endpoint.audit;
  // Without a key it is nobody's, until a link that is right tells whose.
  const accepted = id === 'invites.accept' && status === 200;
  return accepted ? { resourceType: 'invites', action: 'accept' } : undefined;
}

const hostile: [string, string][] = [
  ['nothing', ''],
  ['NUL', 'a\0b'],
  ['half a character', 'a\ud800b'],
  ['control characters', '\u0001\u001b[31m\u007f\u0085\u2028'],
  ['emoji and accents', '👩‍👩‍👧‍👦 Ａ̊ ﷽ ß'],
  ['SQL', "'; DROP TABLE api_keys; --"],
  ['patterns', '%_\\'],
  ['a prototype', '__proto__'],
  ['a number', '1e309'],
  ['a long word', 'x'.repeat(5_000)],
];

/** All of them everywhere (`npm run abuse`); in the suite each operation meets one of them, in turns. */
const meets = (one: ContractCase, value: string) =>
  inTurns(hostile, hostile.length, contract.indexOf(one)).some(([, each]) => each === value);

/** Hundreds of calls each, on machines that are busy with others. */
const manyCalls = { timeout: 120_000 };

describe('text that nobody should send', () => {
  it.each(hostile)('%s: in every field of every body', manyCalls, async (_name, value) => {
    const faults: string[] = [];
    const asked = withBody.filter((one) => meets(one, value));
    await each(asked, async (one) => {
      const valid = await callOfNothing(one);
      const texts = pathsOf(valid.body).filter(
        (path) => typeof valueAt(valid.body, path) === 'string',
      );
      const whole = texts.reduce<unknown>((body, path) => withValue(body, path, value), valid.body);
      const part = texts[value.length % texts.length];
      for (const body of part === undefined ? [] : [whole, withValue(valid.body, part, value)])
        faults.push(...faultsOf(await send(h, one, { ...valid, body }), `${one.id} ${part}`, one));
    });
    expect(faults.join('\n')).toBe('');
  });

  it.each(hostile)('%s: in every parameter and every path', manyCalls, async (_name, value) => {
    const faults: string[] = [];
    const asked = contract.filter((one) => meets(one, value));
    await each(asked, async (one) => {
      const { endpoint } = one;
      const valid = await callOfNothing(one);
      const tried = async (sent: Sent, at: string) =>
        faults.push(...faultsOf(await send(h, one, sent), at, one));
      // Without an id it is another path.
      if (value !== '')
        for (const name of pathParameters(endpoint.path)) {
          const path = { ...valid.path, [name]: value.toWellFormed() };
          await tried({ ...valid, path }, `${one.id} ${name}`);
        }
      if (endpoint.method !== 'get') return;
      const named = Object.keys(queryParameters(endpoint.query));
      for (const name of [...named, 'workspace_id']) {
        const query = { ...valid.query, [name]: value };
        await tried({ ...valid, query }, `${one.id} ?${name}`);
      }
    });
    expect(faults.join('\n')).toBe('');
  });

  it('is looked for as it stands, not as a pattern', async () => {
    const admin = h.as(h.first.admin_key);
    for (const name of ['100% sure', 'under_score', 'back\\slash', "quote's"]) {
      const made = await admin.post('/admin/workspaces', { name }).expect(200);
      noteChange(made, caseOf('workspaces.create'));
    }
    const named = async (name: string) => {
      const answer = await admin.get(`/admin/workspaces?${new URLSearchParams({ name })}`);
      return answer.body.data.map((row: { name: string }) => row.name);
    };
    expect(await named('0%')).toEqual(['100% sure']);
    expect(await named('r_s')).toEqual(['under_score']);
    expect(await named('\\')).toEqual(['back\\slash']);
    expect(await named("'")).toEqual(["quote's"]);
  });
});

describe('requests that nobody should send', () => {
  it('deep JSON hidden in another character set', async () => {
    // In UTF-16 a `∀` looks like the quote that would hide brackets from who counts bytes.
    const body = `{"name":"∀","config":${'['.repeat(100_000)}`;
    const answer = await h
      .as(h.first.workspace_key)
      .post('/configs')
      .set('content-type', 'application/json; charset=utf-16le')
      .serialize((value) => value as string)
      .send(Buffer.from(body, 'utf16le') as unknown as string);
    expect([answer.status, answer.body.data?.code]).toEqual([
      400,
      'request.unsupported_content_type',
    ]);
    expect(faultsOf(answer, 'utf-16', caseOf('configs.create'))).toEqual([]);
  });

  // In the suite to every fourth, and others to others (`npm run abuse`: to all).
  it('a member twice, to every operation that reads a body', async () => {
    for (const one of inTurns(withBody, 4)) {
      const valid = await callOfNothing(one);
      const body = '{"name":"one","n\\u0061me":"two"}' as never;
      const answer = await send(h, one, { ...valid, body });
      noteChange(answer, one);
      expect([answer.status, answer.text], one.id).toEqual([
        400,
        expect.stringContaining('body.name'),
      ]);
    }
  });

  it('two megabytes to every operation that reads a body', async () => {
    const body = { name: 'x'.repeat(2 * 1024 * 1024) };
    for (const one of inTurns(withBody, 4, 2)) {
      const valid = await callOfNothing(one);
      const answer = await send(h, one, { ...valid, body });
      expect([one.id, answer.status, answer.body.data?.errorCode]).toEqual([one.id, 413, 'AB01']);
      faultsOf(answer, one.id, one);
    }
  });

  const raw = async (head: string) => {
    const socket = connect(h.service.httpPort, '127.0.0.1');
    socket.write(`GET /v1/configs HTTP/1.1\r\nhost: x\r\n${head}\r\n\r\n`);
    const answer = await text(socket);
    const [headers = '', body = ''] = answer.split('\r\n\r\n');
    return { status: Number(headers.split(' ')[1]), headers, body: JSON.parse(body) };
  };

  it.each([
    ['a control character in a header', 'x-a: a\u0001b', 400],
    ['NUL in a header', 'x-a: a\0b', 400],
    ['a line that is no header', 'no header at all', 400],
    ['a header split in two', 'x-a: b\n x', 400],
    ['two lengths', 'content-length: 1\r\ncontent-length: 2', 400],
    ['more header than is read', `x-a: ${'a'.repeat(20_000)}`, 431],
  ])('%s', async (_name, head, status) => {
    const answer = await raw(head);
    expect([answer.status, answer.body.data.errorCode]).toEqual([status, 'AB01']);
    expect(shapeFaults(errorBodies.usual, answer.body, 'raw')).toEqual([]);
    expect(answer.headers).toContain(`x-service-request-id: ${answer.body.data.request_id}`);
  });

  it('an address that is none', async () => {
    const answer = await h
      .as(h.first.workspace_key)
      .post('/configs', {})
      .set('x-forwarded-for', `<script>${'x'.repeat(300)}`);
    faultsOf(answer, 'forwarded', caseOf('configs.create'));
    const entry = await h.db.auditEntry.findFirstOrThrow({
      where: { requestId: answer.headers['x-service-request-id'] },
    });
    expect(entry.clientIp).toMatch(/^(::ffff:)?127\.0\.0\.1$/);
  });
});

describe('after all of it', () => {
  it('the log holds each change once, no secret, and is one chain', async () => {
    // And some that go well, with secrets in every place that takes one.
    for (const one of contract.filter(({ endpoint }) => endpoint.method !== 'get')) {
      const path = await freshPath(context, one);
      const valid = await validCall(context, one, { who: whoOf(one), path });
      const answer = await send(h, one, valid);
      faultsOf(answer, one.id, one);
      if (typeof answer.body.key === 'string') secrets.push(answer.body.key);
      secrets.push(...(JSON.stringify(valid.body ?? null).match(/[\w-]+-secret-\d+/g) ?? []));
    }
    // Somebody takes a key for an id.
    for (const key of [h.first.admin_key, h.first.workspace_key])
      faultsOf(await h.as(key).delete(`/api-keys/${key}`), 'key as id', caseOf('api-keys.delete'));
    const document = JSON.stringify({ provider: 'openai', api_key: 'sk-inside-a-text-0001' });
    faultsOf(
      await h.as(h.first.workspace_key).post('/configs', { name: 'x', config: document }),
      'document',
      caseOf('configs.create'),
    );
    secrets.push('sk-inside-a-text-0001');

    const found = await entries();
    const kinds = new Map<string, string[]>();
    for (const { request_id: id, resource_type: type, action } of found)
      kinds.set(id, [...(kinds.get(id) ?? []), `${type} ${action}`]);
    const wrong = changes.filter(({ requestId, kind }) => {
      const logged = kinds.get(requestId) ?? [];
      const others = logged.filter((each) => each !== kind);
      return (
        logged.length - others.length !== 1 || others.some((each) => !alongside.includes(each))
      );
    });
    expect(changes.length).toBeGreaterThan(300);
    expect(wrong).toEqual([]);
    expect(unchanged.filter((id) => kinds.has(id))).toEqual([]);
    const log = JSON.stringify(found);
    expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
    expect(await brokenLink(h)).toBeUndefined();
  });
});

interface Entry {
  request_id: string;
  resource_type: string;
  action: string;
}

/** As they are exported: of the list each page is looked for behind all that come before it. */
async function entries(): Promise<Entry[]> {
  const limit = 100_000;
  const lines = (text: string) => text.trimEnd().split('\n');
  const { body } = await h
    .as(h.first.admin_key)
    .get(`/audit-logs/export?limit=${limit}`)
    .buffer(true)
    .parse(readAs(lines))
    .expect(200);
  expect(body.length).toBeLessThan(limit);
  return body.map((line: string) => JSON.parse(line) as Entry);
}
