import type { JsonObject, JsonValue } from '@sluice/contracts';
import { createSealer } from '@sluice/mcp';
import { describe, expect, it } from 'vitest';
import type { ToolServer } from '../mcp/tool-caller.ts';
import type { AskedCall, LoopFormat } from './loop-format.ts';
import { MessagesFormat } from './messages-format.ts';
import { functionName, type OfferedTool, toolFinder } from './offered-tools.ts';
import { ResponsesFormat } from './responses-format.ts';
import { answerOf, type ToolAnswer } from './tool-answer.ts';

const server = { slug: 'demo' } as ToolServer;
const offer = (name: string): OfferedTool => ({
  server,
  label: 'demo',
  listed: { name, description: undefined, inputSchema: {}, annotations: undefined },
  functionName: functionName('demo', name),
  needsApproval: false,
});
const offered = ['first', 'second'].map(offer);
const labels = new Set(['demo']);
const common = { otherTools: [], labels, offered, taken: new Set<string>() };
const seal = { sealer: createSealer([Buffer.alloc(32, 1)]), principal: 'me', nowMs: 0 };

const responses = (input: JsonValue, more: JsonObject = {}, untold: JsonValue[] = []) =>
  new ResponsesFormat({
    ...common,
    json: { input, tools: [], ...more },
    seal,
    untold,
    earlier: [],
  });
const messages = (told: JsonValue) =>
  new MessagesFormat({
    ...common,
    json: { messages: told, tools: [] },
    otherServers: [],
    cacheMarks: new Map(),
  });

const says = (text: string): ToolAnswer =>
  answerOf({ kind: 'result', result: { content: [{ type: 'text', text }] } });

const fails = (text: string): ToolAnswer =>
  answerOf({ kind: 'result', result: { isError: true, content: [{ type: 'text', text }] } });

/** The later call is over first. */
function answerLastFirst(format: LoopFormat, calls: readonly AskedCall[]): void {
  for (const call of calls.toReversed()) format.addAnswer(call, says(`of ${call.toolName}`));
}

describe('what a model is told', () => {
  it('is the same within a request and in the history of the next one, over responses', () => {
    const input = [{ role: 'user', content: 'Go' }];
    const format = responses(input);
    format.body(false);
    const call = (name: string, id: string): JsonObject => ({
      type: 'function_call',
      id: `fc_${id}`,
      call_id: `call_${id}`,
      name: functionName('demo', name),
      arguments: '{}',
    });
    const output = [call('first', 'a'), call('second', 'b'), call('first', 'c')];
    const { calls } = format.takeAnswer({ status: 'completed', output });
    answerLastFirst(format, calls.slice(0, 2));
    for (const failing of calls.slice(2)) format.addAnswer(failing, fails('no such thing'));
    const within = (format.body(false).input as JsonObject[]).map(withoutItemId);
    const next = responses([...input, ...(format.document(false).output as JsonObject[])]);
    const after = next.body(false).input as JsonObject[];
    const byKind = (items: JsonObject[], kind: string) => items.filter(({ type }) => type === kind);
    for (const kind of ['function_call', 'function_call_output'])
      expect(byKind(after, kind)).toEqual(byKind(within, kind));
  });

  it('names no thought that nobody keeps', () => {
    const thought = { type: 'reasoning', id: 'rs_1', summary: [] };
    const called = {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_1',
      name: functionName('demo', 'first'),
      arguments: '{}',
    };
    const told = (store: boolean) => {
      const format = responses('Go', { store });
      format.body(false);
      const output = [thought, called];
      answerLastFirst(format, format.takeAnswer({ status: 'completed', output }).calls);
      return (format.body(false).input as JsonObject[]).slice(1, -1);
    };
    expect(told(true)).toEqual([thought, called]);
    expect(told(false)).toEqual([withoutItemId(called)]);
  });

  it('has what came of calls that it has heard nothing of yet, in front and once', () => {
    const said = (id: string) => ({ type: 'function_call_output', call_id: id, output: id });
    const more = { previous_response_id: 'resp_1' };
    const untold = [said('a'), said('b')];
    const input = [said('b'), said('c')];
    expect(responses(input, more, untold).body(false).input).toEqual([
      said('a'),
      said('b'),
      said('c'),
    ]);
    expect(responses('Go', more, untold).body(false).input).toEqual([
      ...untold,
      { role: 'user', content: 'Go' },
    ]);
  });

  it('and over messages, to the letter', () => {
    const told = [{ role: 'user', content: 'Go' }];
    const format = messages(told);
    format.body(false);
    const use = (name: string, id: string): JsonObject => ({
      type: 'tool_use',
      id: `toolu_${id}`,
      name: functionName('demo', name),
      input: { a: 1 },
    });
    const content = [use('first', 'a'), use('second', 'b')];
    answerLastFirst(format, format.takeAnswer({ stop_reason: 'tool_use', content }).calls);
    const within = format.body(false).messages;
    const next = messages([
      ...told,
      { role: 'assistant', content: format.document(true).content ?? [] },
    ]);
    expect(next.body(false).messages).toEqual(within);
  });
});

describe('names of functions', () => {
  it('fit, and stay apart', () => {
    const long = 'a'.repeat(80);
    for (const tool of ['plain', 'with.dots', 'ünïcode', long, `${long}b`])
      expect(functionName('demo', tool)).toMatch(/^[\w-]{1,64}$/);
    const names = ['a.b', 'a_b', 'a b', long, `${long}b`].map((tool) => functionName('demo', tool));
    expect(new Set(names).size).toBe(names.length);
  });

  it('tell calls of ours from those of the caller’s', () => {
    const find = toolFinder(offered, labels, new Set(['mcp__demo__mine']));
    expect(find('mcp__demo__first')?.tool).toBe(offered[0]);
    expect(find('mcp__demo__made_up')).toMatchObject({ toolName: 'made_up', tool: undefined });
    expect(find('mcp__demo__mine')).toBeUndefined();
    expect(find('first')).toBeUndefined();
  });
});

describe('what a tool says', () => {
  it('is told as text and pictures; of the rest, that it is left out', () => {
    const answer = answerOf({
      kind: 'result',
      result: {
        content: [
          { type: 'text', text: 'one' },
          { type: 'image', data: 'AA==', mimeType: 'image/png' },
          { type: 'resource', resource: { uri: 'test://x', text: 'two' } },
          { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
        ],
      },
    });
    expect(answer.parts.map((part) => (part.kind === 'text' ? part.text : part.mediaType))).toEqual(
      ['one', 'image/png', 'two', '[audio/wav left out: audio]'],
    );
    const structured = answerOf({ kind: 'result', result: { structuredContent: { sum: 2 } } });
    expect(structured.parts).toEqual([{ kind: 'text', text: '{"sum":2}' }]);
    const large = answerOf({
      kind: 'result',
      result: { content: [{ type: 'text', text: 'x'.repeat(500_000) }] },
    });
    expect(JSON.stringify(large.parts).length).toBeLessThan(400_200);
  });
});

function withoutItemId({ id: _id, ...item }: JsonObject): JsonObject {
  return item as JsonObject;
}

describe('what a provider says that means no good', () => {
  const event = (type: string, more: JsonObject): JsonObject => ({ type, ...more });
  const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [] };

  it.each([30_000_000, -1, 0.5])('has the places that there are, over responses: %d', (place) => {
    const format = responses('Go');
    format.body(false);
    format.beginStream();
    const told = ['added', 'done'].map((what) =>
      format.takeEvent(
        '',
        event(`response.output_item.${what}`, { output_index: place, item: message }),
      ),
    );
    expect(told.join('')).toContain('"output_index":1,');
    format.takeEvent('', event('response.completed', { response: { status: 'completed' } }));
    expect(format.endStream()).toEqual({ calls: [], isLast: true });
    const output = format.document(false).output as JsonValue[];
    expect(output).toHaveLength(2);
    expect(output[1]).toEqual(message);
  });

  it('numbers calls of one id at once, however many there are', () => {
    const format = responses('Go');
    format.body(false);
    const output = Array.from({ length: 20_000 }, (_, index) => ({
      type: 'function_call',
      id: `fc_${index}`,
      call_id: 'call',
      name: functionName('demo', 'first'),
      arguments: '{}',
    }));
    const startedAt = performance.now();
    const { calls } = format.takeAnswer({ status: 'completed', output });
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(output.length);
    expect(calls.slice(0, 3).map(({ id }) => id)).toEqual(['mcp_call', 'mcp_call_2', 'mcp_call_3']);
  });

  it('tells a long history in the order of its calls', () => {
    const ids = Array.from({ length: 8_000 }, (_, index) => `mcptoolu_${index}`);
    const shuffled = ids.toSorted((one, other) => Number(hashOf(one) - hashOf(other)));
    const content = [
      ...ids.map((id) => ({
        type: 'mcp_tool_use',
        id,
        name: 'first',
        server_name: 'demo',
        input: {},
      })),
      ...shuffled.map((id) => ({ type: 'mcp_tool_result', tool_use_id: id, content: 'x' })),
    ];
    const format = messages([{ role: 'assistant', content }]);
    const [, { content: results }] = format.body(false).messages as [
      JsonObject,
      { content: JsonObject[] },
    ];
    expect(results.map(({ tool_use_id: id }) => `mcp${String(id)}`)).toEqual(ids);
  });
});

function hashOf(text: string): number {
  let sum = 7;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 104_729;
  return (sum * 7_919) % 104_729;
}
