import { eventually, freshName } from '@sluice/testkit';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Scenario, startScenario } from './scenario.ts';

let s: Scenario;
let client: OpenAI;
let stranger: OpenAI;
beforeAll(async () => {
  s = await startScenario();
  client = clientOf(s.stack.credentials.workspace_key);
  stranger = clientOf(await strangerKey());
});
afterAll(() => s?.stop());

/** Of the demo that each installation has, as a newcomer calls it. */
function clientOf(apiKey: string): OpenAI {
  return new OpenAI({
    apiKey,
    baseURL: s.stack.credentials.base_url,
    maxRetries: 0,
    defaultHeaders: { 'x-service-provider': '@demo' },
  });
}

/** Of another workspace that calls the same demo. */
async function strangerKey(): Promise<string> {
  const { id } = await s.admin<{ id: string }>('POST', '/admin/workspaces', { name: 'Others' });
  const theirs = { name: 'Their demo', workspace_id: id };
  const slug = freshName('their-demo');
  await s.admin('POST', '/integrations', {
    ...theirs,
    slug,
    ai_provider_id: 'demo',
    configurations: { custom_host: `${s.stack.demoUpstreamUrl}/v1` },
    create_default_provider: false,
  });
  await s.admin('POST', '/providers', { ...theirs, slug: 'demo', integration_id: slug });
  const { key } = await s.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
    name: 'theirs',
    scopes: ['completions.write'],
    workspace_id: id,
  });
  return key;
}

interface Log {
  metrics: { total_units: number };
}

function today(): URLSearchParams {
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  return new URLSearchParams({
    time_of_generation_min: at(-3_600_000),
    time_of_generation_max: at(60_000),
    workspace_slug: s.stack.credentials.workspace_slug,
  });
}

const model = 'gpt-4o-mini';
const notTheirs = { status: 404, code: 'object.owner_unknown' };

describe('what the demo keeps', () => {
  it('goes on, is read and deleted by its workspace, and is nobody else’s', async () => {
    expect((await stranger.responses.create({ model, input: 'x' })).status).toBe('completed');
    const { id } = await client.responses.create({ model, input: 'One' });
    const next = { model, input: 'Two', previous_response_id: id };
    const second = await client.responses.create(next);
    expect((await client.responses.inputItems.list(second.id)).data).toHaveLength(3);

    for (const ask of [
      () => stranger.responses.create(next),
      () => stranger.responses.retrieve(id),
      () => stranger.responses.inputItems.list(id),
      () => stranger.responses.inputTokens.count(next),
      () => stranger.responses.cancel(id),
      () => stranger.responses.delete(id),
    ])
      await expect(ask()).rejects.toMatchObject(notTheirs);
    await client.responses.delete(id);
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });

  it('is made in the background, streamed again and cancelled', async () => {
    const body = { model: 'gpt-4o', input: 'Hello there', background: true } as const;
    const { id } = await client.responses.create({ ...body, input: 'x' });
    await expect(stranger.responses.retrieve(id)).rejects.toMatchObject(notTheirs);
    expect((await client.responses.cancel(id)).status).toBe('cancelled');

    const numbers: number[] = [];
    let streamed = '';
    for await (const event of await client.responses.create({ ...body, stream: true })) {
      numbers.push(event.sequence_number);
      if (event.type === 'response.created') streamed = event.response.id;
      if (event.sequence_number === 3) break;
    }
    await expect(stranger.responses.retrieve(streamed, { stream: true })).rejects.toMatchObject(
      notTheirs,
    );
    const rest = await client.responses.retrieve(streamed, { stream: true, starting_after: 3 });
    let status: string | undefined;
    for await (const event of rest) {
      numbers.push(event.sequence_number);
      if (event.type === 'response.completed') status = event.response.status;
    }
    expect(status).toBe('completed');
    expect(numbers).toEqual(numbers.map((_, at) => at));

    const { usage } = await client.responses.retrieve(streamed);
    const billed = () => s.admin<{ data: Log[] }>('GET', `/logs?${today()}&ai_model=gpt-4o`);
    const tokens = async () =>
      (await billed()).data.map(({ metrics }) => metrics.total_units).filter((count) => count > 0);
    await eventually(async () => expect(await tokens()).toEqual([usage?.total_tokens]));
  });

  it('has conversations, of which a stranger sees none', async () => {
    const { id } = await client.conversations.create({
      items: [{ role: 'user', content: 'One' }],
    });
    const turn = { model, input: 'Two', conversation: id };
    await client.responses.create(turn);
    const { data } = await client.conversations.items.list(id, { order: 'asc' });
    expect(data.map((item) => item.type === 'message' && item.role)).toEqual([
      'user',
      'user',
      'assistant',
    ]);
    const item = { conversation_id: id };
    const first = String(data[0]?.id);
    for (const ask of [
      () => stranger.responses.create(turn),
      () => stranger.conversations.retrieve(id),
      () => stranger.conversations.update(id, { metadata: { a: 'b' } }),
      () => stranger.conversations.items.list(id),
      () => stranger.conversations.items.create(id, { items: [{ role: 'user', content: 'x' }] }),
      () => stranger.conversations.items.retrieve(first, item),
      () => stranger.conversations.items.delete(first, item),
      () => stranger.conversations.delete(id),
    ])
      await expect(ask()).rejects.toMatchObject(notTheirs);
    expect((await client.conversations.delete(id)).deleted).toBe(true);
  });
});
