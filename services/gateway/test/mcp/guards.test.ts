import { eventually, freshName, inDatabase } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GuardFixture, guardFixture, guardServer } from './guard-upstream.ts';
import { type LegacyUpstream, startLegacyUpstream } from './legacy-upstream.ts';
import { type McpLab, type SavedServer, startMcpLab } from './mcp-lab.ts';
import { type ModernUpstream, startModernUpstream } from './modern-upstream.ts';

/** What guardrails do with calls of tools and their results, for clients that know nothing of it. */
let lab: McpLab;
let asStream: LegacyUpstream;
let asBody: LegacyUpstream;
let modern: ModernUpstream;
const fixture: GuardFixture = guardFixture();
const servers: Record<'stream' | 'body' | 'modern', SavedServer> = {} as never;
let enforcedIn: string;
let enforcedOut: string;
let masking: string;

beforeAll(async () => {
  [lab, asStream, asBody, modern] = await Promise.all([
    startMcpLab({ gateways: 2 }),
    startLegacyUpstream({ makeServer: () => guardServer(fixture) }),
    startLegacyUpstream({ makeServer: () => guardServer(fixture), json: true }),
    startModernUpstream(),
  ]);
  const deny = (word: string) => ({
    checks: [{ id: 'default.regexMatch', parameters: { rule: word, not: true } }],
    actions: { deny: true },
  });
  [servers.stream, servers.body, servers.modern, enforcedIn, enforcedOut, masking] =
    await Promise.all([
      lab.save({ url: asStream.url }),
      lab.save({ url: asBody.url }),
      lab.save({ url: modern.url }),
      guardrail('No orders', deny('drop table')),
      guardrail('No leaks', deny('top secret')),
      guardrail('Masks', {
        checks: [
          {
            id: 'default.regexReplace',
            parameters: { rule: '[\\w.]+@[\\w.]+', redactText: '[mail]' },
          },
        ],
        actions: { deny: false },
      }),
    ]);
  await enforce({ input_guardrails: [enforcedIn], output_guardrails: [enforcedOut, masking] });
});
afterAll(async () => {
  await lab?.stop();
  await Promise.all([asStream?.close(), asBody?.close(), modern?.close()]);
});

async function guardrail(name: string, body: object): Promise<string> {
  const { workspace_id } = lab.scenario.stack.credentials;
  const made = await lab.scenario.admin<{ slug: string }>('POST', '/guardrails', {
    name,
    workspace_id,
    ...body,
  });
  return made.slug;
}

function enforce(defaults: object): Promise<unknown> {
  const { workspace_slug } = lab.scenario.stack.credentials;
  return lab.scenario.admin('PUT', `/admin/workspaces/${workspace_slug}`, { defaults });
}

const textOf = (result: unknown) =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join('\n');

describe.each(['stream', 'body'] as const)('a server that answers by %s', (way) => {
  it('is not asked what an enforced guardrail denies, and the model learns why', async () => {
    const before = fixture.calls.length;
    // Nothing that a caller says leaves it out.
    const config = JSON.stringify({ input_guardrails: [], output_guardrails: [] });
    const { client } = await lab.connect(servers[way].slug, {
      headers: { 'x-service-config': config, 'x-service-guardrails': 'none' },
    });
    for (const args of [
      { say: 'drop table users' },
      { deep: [{ in: { 'drop table': 1 } }] },
      { json: '{"say":"drop\\u0020table"}' },
    ]) {
      const result = await client.callTool({ name: 'say', arguments: args });
      expect(result).toMatchObject({ isError: true });
      expect(textOf(result)).toBe(
        `The call of 'say' was denied by the guardrail ${enforcedIn} (default.regexMatch).`,
      );
    }
    expect(fixture.calls.length).toBe(before);
    expect(textOf(await client.callTool({ name: 'say', arguments: { say: 'hello' } }))).toBe(
      'hello',
    );
  });

  it('is answered for where its result is denied, and progress passes', async () => {
    const { client } = await lab.connect(servers[way].slug);
    const heard: unknown[] = [];
    const result = await client.callTool(
      { name: 'say', arguments: { say: 'this is top secret' } },
      undefined,
      { onprogress: ({ message }) => heard.push(message) },
    );
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).not.toContain('top secret');
    expect(textOf(result)).toContain(enforcedOut);
    if (way === 'stream') expect(heard).toEqual(['half way']);
    // So is what it says of an error.
    expect(
      textOf(await client.callTool({ name: 'breaks', arguments: { say: 'top secret' } })),
    ).toContain("result of 'breaks' was denied");
  });

  it('has secrets of its results masked, which stay what the tool declared', async () => {
    const { client } = await lab.connect(servers[way].slug);
    // The client checks results by what was listed.
    await client.listTools();
    const result = await client.callTool({
      name: 'record',
      arguments: { say: 'ada@example.org' },
    });
    expect(result.structuredContent).toEqual({ holder: 'Ada', mail: '[mail]', count: 3 });
    expect(JSON.stringify(result)).not.toContain('ada@');
  });
});

it('what is told again on another stream is judged as well', async () => {
  const { transport } = await lab.connect(servers.stream.slug);
  const [url = ''] = lab.urls(servers.stream.slug);
  const headers = {
    'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
    'mcp-session-id': transport.sessionId ?? '',
    'mcp-protocol-version': '2025-06-18',
    accept: 'application/json, text/event-stream',
  };
  const call = (say: string) =>
    fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 77,
        method: 'tools/call',
        params: { name: 'say', arguments: { say }, _meta: { progressToken: 'p' } },
      }),
    }).then((answer) => answer.text());
  const first = /^id: (.+)$/m.exec(await call('top secret, ada@example.org'))?.[1] ?? '';
  expect(first).not.toBe('');
  const again = await fetch(url, {
    headers: { ...headers, 'last-event-id': first },
    signal: AbortSignal.timeout(5000),
  });
  let text = '';
  for await (const piece of again.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(piece).toString();
    if (text.includes('"id":77')) break;
  }
  expect(text).toContain('was denied by the guardrail');
  expect(text).not.toMatch(/top secret|ada@/);
});

describe('the policy of a server', () => {
  it('names guardrails of its own, which change what is sent, deny by an error, and bound results', async () => {
    const own = await lab.save({ url: asStream.url });
    const policy = {
      input_guardrails: [masking],
      guardrail_denied_as: 'error',
      max_result_bytes: 2048,
    };
    await lab.scenario.admin('PUT', `/mcp-servers/${own.id}`, { policy });
    const { client } = await lab.connect(own.slug);
    await client.callTool({
      name: 'say',
      arguments: { say: 'to ada@example.org', n: 1, list: [{ to: 'b@example.org' }] },
    });
    expect(fixture.calls.at(-1)?.arguments).toEqual({
      say: 'to [mail]',
      n: 1,
      list: [{ to: '[mail]' }],
    });
    await expect(
      client.callTool({ name: 'say', arguments: { say: 'drop table' } }),
    ).rejects.toMatchObject({ code: -32000, data: { code: 'guardrail.denied' } });
    const large = await client.callTool({ name: 'large', arguments: { size: 5000 } });
    expect(Buffer.byteLength(JSON.stringify(large))).toBeLessThanOrEqual(2048);
    expect(textOf(large)).toMatch(
      /^ü{500,}\n\[Cut by the gateway: the result has 1\d{4} bytes, and 2048 may be given\.\]$/,
    );
  });

  it('that names what is not there lets nothing through', async () => {
    const { admin, stack } = lab.scenario;
    const { workspace_id } = stack.credentials;
    const slug = freshName('of-all');
    const before = fixture.calls.length;
    const { id } = await admin<{ id: string }>('POST', '/mcp-integrations', {
      name: slug,
      url: asBody.url,
      transport: 'http',
      auth_type: 'none',
    });
    // As rows of before say it: nobody can save that any more.
    const policy = JSON.stringify({ output_guardrails: ['pg-elsewhere'] });
    await inDatabase(stack.databaseUrl, (db) =>
      db.query('UPDATE mcp_integrations SET policy = $1 WHERE id = $2', [policy, id]),
    );
    const workspaces = [{ id: workspace_id, enabled: true }];
    await admin('PUT', `/mcp-integrations/${id}/workspaces`, { workspaces });
    await admin('POST', '/mcp-servers', { name: slug, slug, mcp_integration_id: id, workspace_id });
    const { client } = await lab.connect(slug);
    await expect(client.callTool({ name: 'say', arguments: {} })).rejects.toThrow(/cannot be run/);
    expect(fixture.calls.length).toBe(before);
  });
});

it('servers of the newer era are guarded through translation', async () => {
  const { client } = await lab.connect(servers.modern.slug);
  const masked = await client.callTool({ name: 'echo', arguments: { say: 'x@example.org' } });
  expect(textOf(masked)).toBe('[mail]');
  const denied = await client.callTool({ name: 'echo', arguments: { say: 'drop table' } });
  expect(denied).toMatchObject({ isError: true });
});

it('a denial stands in the record of its call', async () => {
  const { workspace_id } = lab.scenario.stack.credentials;
  await eventually(async () => {
    const asked = new URLSearchParams({
      time_of_generation_min: new Date(Date.now() - 3_600_000).toISOString(),
      time_of_generation_max: new Date(Date.now() + 3_600_000).toISOString(),
      workspace_slug: workspace_id,
      page_size: '200',
      mode: 'mcp:tool_call',
    });
    const { data } = await lab.scenario.admin<{ data: Record<string, unknown>[] }>(
      'GET',
      `/logs?${asked}`,
    );
    const denied = data.filter(
      ({ error }) => (error as { code?: string })?.code === 'guardrail.denied',
    );
    expect(denied.length).toBeGreaterThanOrEqual(8);
    const ids = denied.map(({ request_id }) => String(request_id));
    const details = await Promise.all(
      ids.map((id) => lab.scenario.admin<object>('GET', `/requests/${id}`)),
    );
    const told = JSON.stringify(details);
    for (const [id, event] of [
      [enforcedIn, 'before'],
      [enforcedOut, 'after'],
    ])
      expect(told).toContain(`"id":"${id}","event":"${event}","verdict":false,"deny":true`);
  });
});
