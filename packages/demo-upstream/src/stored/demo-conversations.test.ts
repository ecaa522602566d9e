import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DemoUpstream, startDemoUpstream } from '../index.ts';

let demo: DemoUpstream;
let client: OpenAI;
beforeAll(async () => {
  demo = await startDemoUpstream({ port: 0 });
  client = new OpenAI({ baseURL: `${demo.url}/v1`, apiKey: 'none needed', maxRetries: 0 });
});
afterAll(() => demo.close());

const model = 'gpt-4o-mini';
const user = (content: string) => ({ type: 'message', role: 'user', content }) as const;

async function textsOf(id: string): Promise<string[]> {
  const texts = [];
  for await (const item of client.conversations.items.list(id, { order: 'asc', limit: 2 }))
    if (item.type === 'message' && 'text' in (item.content[0] ?? {}))
      texts.push(`${item.role}: ${(item.content[0] as { text: string }).text}`);
  return texts;
}

describe('conversations', () => {
  it('are made with items, changed, read and deleted', async () => {
    const { id, ...made } = await client.conversations.create({
      items: [user('One')],
      metadata: { topic: 'demo' },
    });
    expect(made).toMatchObject({ object: 'conversation', metadata: { topic: 'demo' } });
    expect(await client.conversations.update(id, { metadata: { topic: 'other' } })).toMatchObject({
      id,
      metadata: { topic: 'other' },
    });
    const added = await client.conversations.items.create(id, { items: [user('Two'), user('3')] });
    expect(added).toMatchObject({ object: 'list', has_more: false, first_id: added.data[0]?.id });
    expect(await textsOf(id)).toEqual(['user: One', 'user: Two', 'user: 3']);
    const item = { conversation_id: id };
    const two = String(added.data[0]?.id);
    expect(await client.conversations.items.retrieve(two, item)).toEqual(added.data[0]);
    expect(await client.conversations.items.delete(two, item)).toMatchObject({ id });
    await expect(client.conversations.items.retrieve(two, item)).rejects.toMatchObject({
      status: 404,
    });
    expect(await textsOf(id)).toEqual(['user: One', 'user: 3']);
    expect(await client.conversations.delete(id)).toEqual({
      id,
      object: 'conversation.deleted',
      deleted: true,
    });
    await expect(client.conversations.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });

  it('hold what responses in them were told and answered, streamed or not', async () => {
    const { id } = await client.conversations.create();
    const first = await client.responses.create({ model, input: 'One', conversation: id });
    expect(first.conversation).toEqual({ id });
    const stream = client.responses.stream({ model, input: 'Two', conversation: { id } });
    const second = await stream.finalResponse();
    expect(await textsOf(id)).toEqual([
      'user: One',
      `assistant: ${first.output_text}`,
      'user: Two',
      `assistant: ${second.output_text}`,
    ]);
    const { data } = await client.responses.inputItems.list(second.id);
    expect(data).toHaveLength(3);
  });

  it('are locked while something is said in the background, and have it once it was said', async () => {
    const { id } = await client.conversations.create();
    const body = { model, conversation: id, background: true };
    const begun = await client.responses.create({ ...body, input: 'One' });
    await expect(client.responses.create({ ...body, input: 'Two' })).rejects.toMatchObject({
      status: 400,
      code: 'conversation_locked',
    });
    expect(await textsOf(id)).toEqual([]);
    await client.responses.cancel(begun.id);
    const next = await client.responses.create({ ...body, input: 'Two' });
    for (let texts: string[] = []; texts.length < 2; texts = await textsOf(id))
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await textsOf(id))[0]).toBe('user: Two');
    expect((await client.responses.retrieve(next.id)).status).toBe('completed');
  });

  it('refuse what the vendor refuses', async () => {
    const items = Array.from({ length: 21 }, () => user('x'));
    const metadata = Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v']));
    for (const body of [{ items }, { metadata }, { items: 'x' }, { metadata: { a: 1 } }])
      await expect(client.conversations.create(body as never)).rejects.toMatchObject({
        status: 400,
      });
    const { id } = await client.conversations.create();
    for (const query of [
      { limit: 101 },
      { limit: 0 },
      { limit: 'NaN' },
      { limit: 1.5 },
      { order: 'up' },
      { after: 'msg_none' },
    ])
      await expect(client.conversations.items.list(id, query as never)).rejects.toMatchObject({
        status: 400,
      });
    await expect(client.conversations.update(id, {} as never)).rejects.toMatchObject({
      param: 'metadata',
    });
  });
});
