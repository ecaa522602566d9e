import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bytes, hang, json, type UpstreamReply } from '@sluice/testkit';
import { CohereClientV2 } from 'cohere-ai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, startLab, type Trial } from './lab.ts';

/** Cohere's own client, its chat passed through: what it sends and reads is Cohere's, the usage is ours to read. */
let lab: Lab;
let trial: Trial;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.stop());
afterEach(() => trial.close());

const recorded = join(
  import.meta.dirname,
  '../../../packages/providers/src/codecs/cohere-chat/fixtures',
);
const fixture = (name: string): string => readFileSync(join(recorded, name), 'utf8');
const reply = (name: string): UpstreamReply => json(200, JSON.parse(fixture(name)));

const events = (name: string): UpstreamReply =>
  bytes(200, Buffer.from(fixture(name)), { 'content-type': 'text/event-stream' });

async function clientAt(...replies: UpstreamReply[]) {
  return clientBelow('/v1/proxy', ...replies);
}

async function clientBelow(root: string, ...replies: UpstreamReply[]) {
  trial = lab.trial();
  const upstream = await trial.upstream('cohere', ...replies);
  const cohere = new CohereClientV2({
    token: 'sk-vendor',
    environment: `${lab.scenario.stack.gatewayUrls[0]}${root}`,
    headers: {
      'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
      'x-service-provider': 'cohere',
      'x-service-custom-host': upstream.url,
    },
    maxRetries: 0,
  } as ConstructorParameters<typeof CohereClientV2>[0]);
  return { upstream, cohere };
}

const question = {
  model: 'command-a-03-2025',
  messages: [{ role: 'user' as const, content: 'Which penguins are the tallest?' }],
};
const tool = {
  type: 'function' as const,
  function: { name: 'get_weather', parameters: { type: 'object', properties: {} } },
};

describe('the cohere-ai client, chat through pass-through', () => {
  it('gets an answer', async () => {
    const { upstream, cohere } = await clientAt(reply('text.response.json'));
    const answer = await cohere.chat(question);
    expect(answer.message.content?.[0]).toMatchObject({ type: 'text' });
    const [request] = upstream.requests;
    expect(request?.path).toBe('/v2/chat');
    expect(request?.json()).toEqual({ ...question, stream: false });
    expect(request?.headers.authorization).toBe('Bearer sk-vendor');
    expect(JSON.stringify(request?.rawHeaders)).not.toContain(
      lab.scenario.stack.credentials.workspace_key,
    );
  });

  it('finds its paths at the root', async () => {
    const { upstream, cohere } = await clientBelow('', reply('text.response.json'));
    const answer = await cohere.chat(question);
    expect(answer.message.content?.[0]).toMatchObject({ type: 'text' });
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/v2/chat']);
  });

  it('reads a stream to its end', async () => {
    const { cohere } = await clientAt(events('text.stream.txt'));
    let text = '';
    let last = '';
    for await (const event of await cohere.chatStream(question)) {
      if (event.type === 'content-delta') text += event.delta?.message?.content?.text ?? '';
      last = event.type;
    }
    expect(text).toBe('Grüezi 🐧 penguins');
    expect(last).toBe('message-end');
  });

  it('calls tools, and returns their results', async () => {
    const { upstream, cohere } = await clientAt(
      reply('tools.response.json'),
      reply('text.response.json'),
    );
    const { message } = await cohere.chat({ ...question, tools: [tool] });
    const calls = message.toolCalls ?? [];
    expect(calls.map((call) => call.function?.name)).toEqual(['weather', 'weather']);
    await cohere.chat({
      ...question,
      tools: [tool],
      messages: [
        ...question.messages,
        { role: 'assistant', toolCalls: calls, toolPlan: message.toolPlan ?? '' },
        ...calls.map(({ id }) => ({
          role: 'tool' as const,
          toolCallId: id,
          content: '{"sunny":true}',
        })),
      ],
    });
    const sent = upstream.requests[1]?.json() as { messages: Record<string, unknown>[] };
    const ids = calls.map(({ id }) => id);
    expect(sent.messages[1]).toMatchObject({ tool_calls: ids.map((id) => ({ id })) });
    expect(sent.messages.slice(2).map((one) => one.tool_call_id)).toEqual(ids);
  });

  it('sends images', async () => {
    const { upstream, cohere } = await clientAt(reply('text.response.json'));
    const url = 'data:image/png;base64,iVBORw0KGgo=';
    await cohere.chat({
      model: 'command-a-vision-07-2025',
      messages: [{ role: 'user', content: [{ type: 'image_url', imageUrl: { url } }] }],
    });
    expect(upstream.requests[0]?.json()).toMatchObject({
      messages: [{ content: [{ type: 'image_url', image_url: { url } }] }],
    });
  });

  it('gets the provider’s own error', async () => {
    const { cohere } = await clientAt(json(429, { id: 'e-1', message: 'too many tokens' }));
    await expect(cohere.chat(question)).rejects.toMatchObject({
      statusCode: 429,
      body: { message: 'too many tokens' },
    });
  });

  it('can leave', async () => {
    const { upstream, cohere } = await clientAt(hang());
    const leaving = new AbortController();
    const asked = cohere.chat(question, { abortSignal: leaving.signal });
    const request = await upstream.received(1);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(() => request.aborted).toBe(true);
  });
});
