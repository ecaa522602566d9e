import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Scenario, startScenario } from './scenario.ts';

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario.stop());

const weather: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'get_weather',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const time = { ...weather, name: 'get_time' };
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

interface Way {
  name: string;
  model: string;
  /** Who serves it; an address of its own where it is not the saved provider. */
  headers: () => Record<string, string>;
}

const ways: Way[] = [
  { name: 'natively', model: 'gpt-4o-mini', headers: () => ({ 'x-service-provider': '@demo' }) },
  { name: 'over chat completions', model: 'glm-4.6', headers: () => at('z-ai') },
  { name: 'over Anthropic’s messages', model: 'claude-sonnet-4-5', headers: () => at('anthropic') },
];

function at(provider: string): Record<string, string> {
  return {
    'x-service-provider': provider,
    'x-service-custom-host': `${scenario.stack.demoUpstreamUrl}/v1`,
    authorization: 'Bearer sk-upstream',
  };
}

function clientFor(way: Way): OpenAI {
  const { workspace_key, base_url } = scenario.stack.credentials;
  return new OpenAI({
    apiKey: workspace_key,
    baseURL: base_url,
    maxRetries: 0,
    defaultHeaders: { 'x-service-api-key': workspace_key, ...way.headers() },
  });
}

for (const way of ways) {
  const { model } = way;

  describe(`the openai client’s responses, served ${way.name}`, () => {
    it('answers, and repeats what was asked', async () => {
      const response = await clientFor(way).responses.create({
        model,
        input: 'Hello there',
        instructions: 'Be brief.',
        metadata: { a: 'b' },
      });
      expect(response.output_text).toContain('Hello there');
      expect(response).toMatchObject({
        object: 'response',
        status: 'completed',
        instructions: 'Be brief.',
        metadata: { a: 'b' },
        tools: [],
        error: null,
      });
      expect(response.id).toMatch(/^resp_/);
      expect(response.usage?.total_tokens).toBeGreaterThan(0);
    });

    it('streams the same, in order', async () => {
      const stream = clientFor(way).responses.stream({ model, input: 'Hello there' });
      const types: string[] = [];
      const numbers: number[] = [];
      let text = '';
      for await (const event of stream) {
        types.push(event.type);
        numbers.push(event.sequence_number);
        if (event.type === 'response.output_text.delta') text += event.delta;
      }
      const final = await stream.finalResponse();
      expect(final.output_text).toContain('Hello there');
      expect(text).toBe(final.output_text);
      expect(final.status).toBe('completed');
      expect(final.usage?.output_tokens).toBeGreaterThan(0);
      expect(numbers).toEqual(numbers.map((_, index) => index));
      expect(types.filter((type) => type !== 'response.output_text.delta')).toEqual([
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.content_part.added',
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
        'response.completed',
      ]);
    });

    it('calls tools and answers with their results', async () => {
      const client = clientFor(way);
      const tools = [weather, time];
      const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'parallel: Paris' }];
      const unary = await client.responses.create({ model, input, tools });
      const streamed = await client.responses.stream({ model, input, tools }).finalResponse();
      const outputs: OpenAI.Responses.ResponseOutputItem[][] = [unary.output, streamed.output];
      for (const output of outputs) {
        const calls = output.filter((item) => item.type === 'function_call');
        expect(calls.map(({ name }) => name)).toEqual(['get_weather', 'get_time']);
        for (const call of calls) expect(JSON.parse(call.arguments)).toHaveProperty('city');
        const results = calls.map(({ call_id }, index) => ({
          type: 'function_call_output' as const,
          call_id,
          output: `result ${index}`,
        }));
        const answered = await client.responses.create({
          model,
          tools,
          input: [...input, ...output, ...results] as OpenAI.Responses.ResponseInput,
        });
        expect(answered.output_text).toContain('result 1');
      }
    });

    it('takes pictures', async () => {
      const response = await clientFor(way).responses.create({
        model,
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'What is this?' },
              { type: 'input_image', image_url: pixel, detail: 'auto' },
            ],
          },
        ],
      });
      expect(response.output_text).toContain('What is this?');
      if (way.name === 'natively') expect(response.output_text).toContain('[1 image]');
    });

    it('stops at the limit', async () => {
      const request = { model, input: 'A long story', max_output_tokens: 2 };
      const unary = await clientFor(way).responses.create(request);
      const streamed = await clientFor(way).responses.stream(request).finalResponse();
      for (const response of [unary, streamed])
        expect(response).toMatchObject({
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
        });
    });

    it('sees errors as errors of its own', async () => {
      const client = clientFor(way);
      const failing = { model: 'demo-error-429', input: 'x' };
      await expect(client.responses.create(failing)).rejects.toBeInstanceOf(OpenAI.RateLimitError);
      await expect(client.responses.stream(failing).finalResponse()).rejects.toMatchObject({
        status: 429,
      });
      await expect(
        client.responses.create({ model, input: 7 as unknown as string }),
      ).rejects.toMatchObject({ status: 400 });
    });

    it('can leave a stream', async () => {
      const client = clientFor(way);
      const stream = await client.responses.create({
        model: 'demo-trickle',
        input: 'A story of many words that takes its time to be told',
        stream: true,
      });
      for await (const event of stream) if (event.type === 'response.output_text.delta') break;
      stream.controller.abort();
      await expect(client.responses.create({ model, input: 'x' })).resolves.toBeDefined();
    });
  });
}

describe('responses over another format', () => {
  const [native, overChat, overAnthropic] = ways as [Way, Way, Way];

  it('are refused where they need what only their own provider keeps', async () => {
    const ask = (way: Way) =>
      clientFor(way).responses.create({
        model: way.model,
        input: 'x',
        previous_response_id: 'resp_1',
      });
    for (const way of [overChat, overAnthropic])
      await expect(ask(way)).rejects.toMatchObject({
        status: 400,
        code: 'request.state_not_kept',
        param: expect.stringContaining('previous_response_id'),
      });
    // The provider judges its own requests.
    await expect(ask(native)).rejects.toMatchObject({ code: 'previous_response_not_found' });
  });

  it('carry Claude’s thoughts through a tool loop, signed', async () => {
    const client = clientFor(overAnthropic);
    const request = {
      model: 'claude-sonnet-4-5',
      tools: [weather],
      reasoning: { effort: 'low' as const },
      max_output_tokens: 4000,
    };
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Paris' }];
    const first = await client.responses.stream({ ...request, input }).finalResponse();
    expect(first.output.map(({ type }) => type)).toEqual(['reasoning', 'function_call']);
    const [thought, call] = first.output;
    expect(thought).toMatchObject({
      summary: [{ type: 'summary_text', text: expect.stringContaining('repeat') }],
      encrypted_content: expect.stringMatching(/^sluice:signature:/),
    });
    if (call?.type !== 'function_call') throw new Error('no call');
    const second = await client.responses.create({
      ...request,
      input: [
        ...input,
        ...(first.output as OpenAI.Responses.ResponseInput),
        { type: 'function_call_output', call_id: call.call_id, output: '22 degrees' },
      ],
    });
    expect(second.output_text).toContain('22 degrees');
  });
});

describe('what another provider may have kept', () => {
  const model = 'claude-sonnet-4-5';
  const referring = (id: string): OpenAI.Responses.ResponseInput => [
    { role: 'user', content: 'Hello' },
    { type: 'item_reference', id },
    { role: 'user', content: 'And now?' },
  ];
  const target = (provider: string) => ({
    provider,
    api_key: 'sk-upstream',
    custom_host: `${scenario.stack.demoUpstreamUrl}/v1`,
  });
  const ask = (config: object, input: OpenAI.Responses.ResponseInput) => {
    const headers = { 'x-service-config': JSON.stringify(config) };
    const client = clientFor({ name: '', model: '', headers: () => headers });
    return client.responses.create({ model, input });
  };

  it('is refused by the place of the reference, and with what to do', async () => {
    await expect(ask(target('anthropic'), referring('msg_1'))).rejects.toMatchObject({
      status: 400,
      code: 'request.state_not_kept',
      param: 'body.input[1]',
      message: expect.stringContaining('send the item in full'),
    });
  });

  it('is asked of the provider that may have it, where a fallback names one', async () => {
    const strategy = { mode: 'fallback', on_status_codes: [400] };
    const config = { strategy, targets: [target('anthropic'), target('openai')] };
    const { output } = await ask(target('openai'), [{ role: 'user', content: 'Hello' }]);
    const answered = await ask(config, referring(String(output[0]?.id)));
    expect(answered.output_text).toContain('And now?');
  });
});
