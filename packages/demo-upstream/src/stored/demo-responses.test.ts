import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DemoUpstream, startDemoUpstream } from '../index.ts';
import { DemoResponses } from './demo-responses.ts';

let demo: DemoUpstream;
let client: OpenAI;
beforeAll(async () => {
  demo = await startDemoUpstream({ port: 0 });
  client = new OpenAI({ baseURL: `${demo.url}/v1`, apiKey: 'none needed', maxRetries: 0 });
});
afterAll(() => demo.close());

const model = 'gpt-4o-mini';
const weather: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'get_weather',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};

describe('responses that are kept', () => {
  it('go on from one another, are read, listed and deleted', async () => {
    const instructions = 'Be brief.';
    const first = await client.responses.create({ model, instructions, input: 'One' });
    const { output_text: _text, ...document } = first;
    expect(await client.responses.retrieve(first.id)).toMatchObject(document);
    const next = { model, input: 'Two', previous_response_id: first.id };
    const second = await client.responses.create(next);
    expect(second).toMatchObject({ previous_response_id: first.id, instructions: null });
    expect(second.usage?.input_tokens).toBeGreaterThan(first.usage?.input_tokens ?? 0);
    expect((await client.responses.create(next)).id).not.toBe(second.id);

    const listed = [];
    for await (const item of client.responses.inputItems.list(second.id, { limit: 1 }))
      listed.push(item);
    expect(listed).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Two' }] },
      { type: 'message', role: 'assistant', id: first.output[0]?.id },
      { type: 'message', role: 'user', content: [{ text: 'One' }] },
    ]);
    const { data: oldest } = await client.responses.inputItems.list(second.id, { order: 'asc' });
    expect(oldest).toEqual(listed.toReversed());

    await client.responses.delete(first.id);
    await expect(client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
    await expect(client.responses.create(next)).rejects.toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    });
    await client.responses.create({ ...next, previous_response_id: second.id });
  });

  it('are there at the end of their stream, and not where the caller declines', async () => {
    const stream = await client.responses.create({ model, input: 'Hello', stream: true });
    for await (const event of stream)
      if (event.type === 'response.completed')
        expect((await client.responses.retrieve(event.response.id)).output).toEqual(
          event.response.output,
        );
    const declined = await client.responses.create({ model, input: 'Hello', store: false });
    expect(declined).toMatchObject({ store: false });
    await expect(client.responses.retrieve(declined.id)).rejects.toMatchObject({ status: 404 });
  });

  it('remember a call until its result comes', async () => {
    const asked = await client.responses.create({ model, input: 'Weather?', tools: [weather] });
    const next = { model, previous_response_id: asked.id };
    await expect(client.responses.create({ ...next, input: 'Now?' })).rejects.toThrow(
      'No tool output found for function call call_demo0.',
    );
    const result = { type: 'function_call_output', call_id: 'call_demo0', output: 'sun' } as const;
    const answered = await client.responses.create({ ...next, input: [result] });
    expect(answered.output_text).toBe('The tool said: sun');
    await expect(client.responses.create({ model, input: [result] })).rejects.toThrow(
      'No tool call found for function call output with call_id call_demo0.',
    );
  });

  it('have what their items refer to', async () => {
    const { output } = await client.responses.create({ model, input: 'One' });
    const id = String(output[0]?.id);
    const input: OpenAI.Responses.ResponseInput = [
      { type: 'item_reference', id },
      { role: 'user', content: 'Two' },
    ];
    const { id: second } = await client.responses.create({ model, input });
    const { data } = await client.responses.inputItems.list(second);
    expect(data[1]).toEqual(output[0]);
    await expect(
      client.responses.create({ model, input: [{ type: 'item_reference', id: 'msg_none' }] }),
    ).rejects.toMatchObject({ status: 404 });
  });

  it('are counted and compacted with what was said before', async () => {
    const first = await client.responses.create({ model, input: 'One' });
    const next = { model, input: 'Two', previous_response_id: first.id };
    const { input_tokens } = await client.responses.inputTokens.count(next);
    expect((await client.responses.create(next)).usage?.input_tokens).toBe(input_tokens);
    const { output } = await client.responses.compact(next as never);
    expect(output.map(({ type }) => type)).toEqual(['message', 'message', 'compaction']);
    const input = [...output, { role: 'user', content: 'Three' }] as never;
    expect((await client.responses.create({ model, input })).output_text).toContain('Three');
  });
});

describe('responses in the background', () => {
  const ended = async (id: string) => {
    for (;;) {
      const response = await client.responses.retrieve(id);
      if (response.status !== 'queued' && response.status !== 'in_progress') return response;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  it('are queued, made and done, and fail as their model does', async () => {
    const begun = await client.responses.create({ model, input: 'Hello', background: true });
    expect(begun).toMatchObject({ status: 'queued', background: true, output: [], usage: null });
    await expect(
      client.responses.create({ model, input: 'x', previous_response_id: begun.id }),
    ).rejects.toMatchObject({ status: 400 });
    const done = await ended(begun.id);
    expect(done).toMatchObject({
      status: 'completed',
      output_text: expect.stringMatching('Hello'),
    });
    // Whoever bills it asks when it ended.
    expect(Math.abs(Date.now() / 1000 - (done.completed_at ?? 0))).toBeLessThan(60);
    const failing = { model: 'demo-error-503', input: 'Hello', background: true };
    expect(await ended((await client.responses.create(failing)).id)).toMatchObject({
      status: 'failed',
      error: { code: 'server_error' },
      usage: null,
    });
  });

  it('are cancelled, once and again; others are not', async () => {
    const { id } = await client.responses.create({
      model: 'demo-slow-60000',
      input: 'Hello',
      background: true,
    });
    for (let each = 0; each < 2; each++)
      expect(await client.responses.cancel(id)).toMatchObject({ status: 'cancelled', output: [] });
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'cancelled' });
    const usual = await client.responses.create({ model, input: 'x' });
    await expect(client.responses.cancel(usual.id)).rejects.toThrow(
      'Cannot cancel a synchronous response.',
    );
  });

  it('tell their events again behind a number', async () => {
    const body = { model, input: 'Hello there', background: true, stream: true } as const;
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    const seen = await client.responses.create(body);
    for await (const event of seen) {
      events.push(event);
      if (event.sequence_number === 4) break;
    }
    const [created] = events;
    if (created?.type !== 'response.created') throw new Error('no first event');
    const { id } = created.response;
    const rest = await client.responses.retrieve(id, { stream: true, starting_after: 4 });
    for await (const event of rest) events.push(event);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
    expect(events.slice(0, 3).map(({ type }) => type)).toEqual([
      'response.created',
      'response.queued',
      'response.in_progress',
    ]);
    expect(events.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { id, status: 'completed', usage: { output_tokens: expect.any(Number) } },
    });
    const unstreamed = await client.responses.create({ model, input: 'x', background: true });
    await expect(client.responses.retrieve(unstreamed.id, { stream: true })).rejects.toMatchObject({
      status: 400,
    });
  });
});

it.each([
  [{ previous_response_id: 'resp_none' }, { status: 400, code: 'previous_response_not_found' }],
  [{ conversation: 'conv_none' }, { status: 404 }],
  [
    { conversation: 'conv_none', previous_response_id: 'resp_none' },
    { status: 400, code: 'mutually_exclusive_parameters' },
  ],
  [{ previous_response_id: 5 }, { status: 400, code: 'invalid_type' }],
  [{ background: true, store: false }, { status: 400 }],
  [{ background: 'yes' }, { status: 400, param: 'background' }],
  [{ input: [{ type: 'item_reference', id: {} }] }, { status: 400, param: 'input[0].id' }],
  [{ prompt: { id: 'pmpt_none' } }, { status: 404 }],
])('refuse %j', async (asked, refusal) => {
  const body = { model, input: 'x', ...asked } as never;
  await expect(client.responses.create(body)).rejects.toMatchObject(refusal);
});

it('are bounded: the oldest go, and what is too long for one is refused or not kept', () => {
  const responses = new DemoResponses(() => 1_795_000_000_000);
  const script = { delayMs: 0, eventDelayMs: 0, events: 1, errorStatus: undefined };
  const create = (fields: object, bytes = 100) => {
    const body = { model, input: 'x', ...fields };
    const answer = responses.create(body, { script, bytes, headers: {} });
    if (answer.kind !== 'json') throw new Error('no document');
    return answer.body as OpenAI.Responses.Response;
  };
  const first = create({});
  create({ previous_response_id: first.id });
  for (let each = 0; each < 1000; each++) create({});
  expect(() => create({ previous_response_id: first.id })).toThrow('not found');

  const kept = create({});
  const large = create({}, 9 * 1024 * 1024);
  expect(large).toMatchObject({ store: false });
  expect(() => create({ previous_response_id: kept.id }, 9 * 1024 * 1024)).toThrow(
    'context window',
  );
  for (let each = 0; each < 5; each++) create({}, 7 * 1024 * 1024);
  expect(() => create({ previous_response_id: kept.id })).toThrow('not found');
});
