import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DemoUpstream, startDemoUpstream } from './index.ts';

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
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

describe('responses', () => {
  it('stream the same response that they answer whole', async () => {
    const request = { model, input: 'Hello there', reasoning: { effort: 'low', summary: 'auto' } };
    const body = request as OpenAI.Responses.ResponseCreateParamsNonStreaming;
    const whole = await client.responses.create(body);
    expect(whole.output_text).toContain('Hello there');
    const streamed = await client.responses.stream({ ...body, stream: true }).finalResponse();
    expect(streamed.output_text).toBe(whole.output_text);
    expect(streamed.output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
    expect(streamed.usage?.output_tokens).toBe(whole.usage?.output_tokens);
  });

  it('call tools, all of them when asked in parallel, and answer with their results', async () => {
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'parallel Paris' }];
    const tools = [weather, { ...weather, name: 'get_time' }];
    const asked = await client.responses.stream({ model, input, tools }).finalResponse();
    const calls = asked.output.filter((item) => item.type === 'function_call');
    expect(calls.map(({ name, call_id }) => [name, call_id])).toEqual([
      ['get_weather', 'call_demo0'],
      ['get_time', 'call_demo1'],
    ]);
    for (const { type, call_id, name, arguments: given } of calls)
      input.push({ type, call_id, name, arguments: given });
    for (const [index, { call_id }] of calls.entries())
      input.push({ type: 'function_call_output', call_id, output: `result ${index}` });
    const answered = await client.responses.create({ model, input, tools });
    expect(answered.output_text).toBe('The tool said: result 0, result 1');
  });

  it('call the tool that is named, of a namespace too, and none of the vendor’s own', async () => {
    const echo = { type: 'function', name: 'echo', strict: false, parameters: null };
    const tools = [
      { type: 'web_search' },
      { ...echo, name: 'first' },
      { type: 'namespace', name: 'mcp__demo', description: 'Demo', tools: [echo] },
    ] as never;
    const callOf = async (input: string) =>
      (await client.responses.create({ model, input, tools })).output.at(-1);
    expect(await callOf('Hello')).toMatchObject({ type: 'function_call', name: 'first' });
    expect(await callOf('Say hello by mcp__demo__echo')).toMatchObject({
      type: 'function_call',
      name: 'echo',
      namespace: 'mcp__demo',
    });
  });

  it('say when they were cut, and refuse what the vendor refuses', async () => {
    const cut = await client.responses.create({ model, input: 'x', max_output_tokens: 2 });
    expect(cut).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
    await expect(client.responses.create({ model })).rejects.toMatchObject({
      status: 400,
      param: 'input',
    });
    await expect(
      client.responses.create({ model, input: 'x', previous_response_id: 'resp_1' }),
    ).rejects.toMatchObject({ status: 400, code: 'previous_response_not_found' });
  });
});
