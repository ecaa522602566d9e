import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Response } from 'supertest';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { brokenLink } from './audit-chain.ts';
import { refusal } from './contract/answers.ts';
import { withValue } from './contract/fields.ts';
import { contract, type Known } from './contract/operations.ts';
import { maker } from './contract/resources.ts';
import { type Harness, startHarness } from './harness.ts';

let h: Harness;
let known: Known;
/** Request ids of every change that was tried with a key, refused ones too. */
const changes: string[] = [];
const secrets: string[] = [];

beforeAll(async () => {
  h = await startHarness({
    analytics: { getGraph: async () => ({}), listGroups: async () => ({}) },
  });
  const owner = await h.db.user.findFirstOrThrow({
    where: { organisationId: h.first.organisation_id },
  });
  known = {
    organisationId: h.first.organisation_id,
    workspaceId: h.first.workspace_id,
    ownerId: owner.id,
    configSlug: 'pc-none',
    integrationSlug: 'none',
  };
  secrets.push(h.first.admin_key, h.first.workspace_key);
});
afterAll(() => h.stop());
afterEach(async () => {
  await h.as(h.first.workspace_key).get('/configs').expect(200);
});

const keyOf = (callers: readonly string[]) =>
  callers.includes('workspace') ? h.first.workspace_key : h.first.admin_key;

/** Notes the change, and what is wrong with the answer to something nobody should send. */
function faultsOf(answer: Response, at: string): string[] {
  const { method } = answer.request as unknown as { method: string };
  if (method !== 'GET') changes.push(answer.headers['x-service-request-id'] ?? '');
  if (answer.status === 200) return [];
  if (answer.status >= 500) return [`${at}: ${answer.status} ${answer.text}`];
  return refusal(answer.body, at);
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

describe('text that nobody should send', () => {
  it.each(hostile)('%s: in every field of every body', async (_name, value) => {
    const faults: string[] = [];
    for (const operation of contract.filter(({ fields }) => fields !== undefined)) {
      const texts = Object.entries(operation.fields ?? {}).filter(([, kind]) =>
        /^(text|texts|slug|enum|uuid|email|url|instant|document)\??$/.test(kind),
      );
      const one = texts[Math.floor(value.length % texts.length)]?.[0] ?? '';
      const whole = texts.reduce<unknown>(
        (body, [path]) =>
          path.startsWith('conditions.0.value.') ? body : withValue(body, path, value),
        operation.body?.(known),
      );
      for (const body of [whole, withValue(operation.body?.(known), one, value)]) {
        const path = operation.path.replace('{id}', '01a1fdbe-8057-7879-bf32-a1bd9cc52163');
        const send = h.as(keyOf(operation.callers))[operation.method];
        faults.push(...faultsOf(await send(path, body as object), `${operation.id} ${one}`));
      }
    }
    expect(faults.join('\n')).toBe('');
  });

  it.each(hostile)('%s: in every parameter and every path', async (_name, value) => {
    const faults: string[] = [];
    for (const operation of contract) {
      const send = h.as(keyOf(operation.callers))[operation.method];
      // Without an id it is another path.
      if (operation.of !== undefined && value !== '') {
        const path = operation.path.replace('{id}', encodeURIComponent(value.toWellFormed()));
        faults.push(...faultsOf(await send(path, operation.body?.(known)), `path ${path}`));
      }
      const names = [
        ...Object.keys(operation.query ?? {}),
        ...Object.keys(operation.queryFields ?? {}),
        ...(operation.method === 'get' ? ['workspace_id'] : []),
        ...(operation.id === 'workspaces.list' ? ['name', 'exact_name'] : []),
        ...(operation.id === 'audit-logs.list'
          ? ['uri', 'request_id', 'user_id', 'resource_type', 'action', 'client_ip', 'country']
          : []),
      ];
      if (operation.method !== 'get' || operation.of !== undefined) continue;
      await Promise.all(
        names.map(async (name) => {
          const query = new URLSearchParams({ ...operation.query, [name]: value });
          const answer = await send(`${operation.path}?${query}`);
          faults.push(...faultsOf(answer, `${operation.path}?${name}`));
        }),
      );
    }
    expect(faults.join('\n')).toBe('');
  });

  it('is looked for as it stands, not as a pattern', async () => {
    const admin = h.as(h.first.admin_key);
    for (const name of ['100% sure', 'under_score', 'back\\slash', "quote's"]) {
      const made = await admin.post('/admin/workspaces', { name }).expect(200);
      changes.push(made.headers['x-service-request-id'] ?? '');
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
    expect(faultsOf(answer, 'utf-16')).toEqual([]);
  });

  it('two megabytes to every operation that reads a body', async () => {
    const body = { name: 'x'.repeat(2 * 1024 * 1024) };
    for (const operation of contract.filter((each) => each.fields !== undefined)) {
      const path = operation.path.replace('{id}', 'x');
      const answer = await h.as(keyOf(operation.callers))[operation.method](path, body);
      expect([operation.id, answer.status, answer.body.data?.errorCode]).toEqual([
        operation.id,
        413,
        'AB01',
      ]);
      faultsOf(answer, operation.id);
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
    expect(refusal(answer.body, 'raw')).toEqual([]);
    expect(answer.headers).toContain(`x-service-request-id: ${answer.body.data.request_id}`);
  });

  it('an address that is none', async () => {
    const answer = await h
      .as(h.first.workspace_key)
      .post('/configs', {})
      .set('x-forwarded-for', `<script>${'x'.repeat(300)}`);
    faultsOf(answer, 'forwarded');
    const entry = await h.db.auditEntry.findFirstOrThrow({
      where: { requestId: answer.headers['x-service-request-id'] },
    });
    expect(entry.clientIp).toMatch(/^(::ffff:)?127\.0\.0\.1$/);
  });
});

describe('after all of it', () => {
  it('the log holds each change once, no secret, and is one chain', async () => {
    const make = maker(h);
    // And some that go well, with secrets in every place that takes one.
    for (const operation of contract.filter(({ method }) => method !== 'get')) {
      const made = operation.of === undefined ? undefined : await make(operation.of);
      const path = operation.path.replace('{id}', made?.id ?? '');
      const key = keyOf(operation.callers);
      const answer = await h.as(key)[operation.method](path, operation.body?.(known));
      faultsOf(answer, operation.id);
      if (typeof answer.body.key === 'string') secrets.push(answer.body.key);
      // Somebody takes a key for an id.
      faultsOf(await h.as(key).delete(`/api-keys/${key}`), 'key as id');
    }
    const document = JSON.stringify({ provider: 'openai', api_key: 'sk-inside-a-text-0001' });
    faultsOf(
      await h.as(h.first.workspace_key).post('/configs', { name: 'x', config: document }),
      'document',
    );
    secrets.push(
      'sk-integration-secret-0001',
      'configured-secret-0001',
      'header-secret-0001',
      'sk-inside-a-text-0001',
    );

    const found = await entries();
    const counts = new Map<string, number>();
    for (const { request_id: id } of found) counts.set(id, (counts.get(id) ?? 0) + 1);
    expect(changes.length).toBeGreaterThan(300);
    expect(changes.filter((id) => counts.get(id) !== 1)).toEqual([]);
    const log = JSON.stringify(found);
    expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
    expect(await brokenLink(h)).toBeUndefined();
  });
});

async function entries(): Promise<{ request_id: string }[]> {
  const all: { request_id: string }[] = [];
  for (let page = 0; ; page += 1) {
    const answer = await h
      .as(h.first.admin_key)
      .get(
        `/audit-logs?start_time=2020-01-01&end_time=2099-01-01&page_size=100&current_page=${page}`,
      )
      .expect(200);
    all.push(...answer.body.records);
    if (answer.body.records.length < 100) return all;
  }
}
