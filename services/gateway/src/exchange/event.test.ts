import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentEvent, mcpEvent } from './event.ts';

const server = { id: 'id-1', slug: 'weather' };

describe('mcpEvent', () => {
  it.each([
    [
      'tools/call',
      'fore cast/é',
      'mcp:tool_call',
      'mcp://weather/tools/fore%20cast%2F%C3%A9',
      true,
    ],
    [
      'resources/read',
      'file:///a',
      'mcp:resource_read',
      'mcp://weather/resources/file%3A%2F%2F%2Fa',
      true,
    ],
    ['prompts/get', 'hello', 'mcp:prompt_get', 'mcp://weather/prompts/hello', true],
    ['initialize', '', 'mcp:initialize', 'mcp://weather/initialize', false],
    ['tools/list', '', 'mcp:tool_list', 'mcp://weather/tools/list', false],
    ['tasks/result', '', 'mcp:task', 'mcp://weather/tasks/result', false],
    ['made/up', '', 'mcp:other', 'mcp://weather/made/up', false],
  ])('%s %s is %s', (method, capability, mode, url, spends) => {
    expect(mcpEvent({ server, method, capability })).toMatchObject({
      kind: 'mcp',
      mode,
      url,
      spends,
      isToolCall: method === 'tools/call',
    });
  });

  it('has few modes, and an address of bounded length, whatever a caller sends', () => {
    const modes = new Set<string>();
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3000 }), (text) => {
        const event = mcpEvent({ server, method: text || 'x', capability: text });
        modes.add(event.mode);
        expect(URL.canParse(event.url)).toBe(true);
        expect(
          mcpEvent({ server, method: 'tools/call', capability: text }).url.length,
        ).toBeLessThan(10_000);
      }),
    );
    expect([...modes].every((mode) => mode === 'mcp:other' || mode === 'mcp:task')).toBe(true);
  });
});

describe('agentEvent', () => {
  it.each([
    ['message/send', 'agent:send_message', true],
    ['SendMessage', 'agent:send_message', true],
    ['SendStreamingMessage', 'agent:stream_message', true],
    ['tasks/get', 'agent:get_task', false],
    ['tasks/pushNotificationConfig/set', 'agent:push_config', false],
    ['CreateTaskPushNotificationConfig', 'agent:push_config', false],
    ['GetExtendedAgentCard', 'agent:get_card', false],
    ['POST /runs', 'agent:call', true],
  ])('%s is %s', (method, mode, spends) => {
    expect(agentEvent({ server, method })).toMatchObject({ kind: 'agent', mode, spends });
  });
});
