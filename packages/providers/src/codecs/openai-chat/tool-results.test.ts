import type { JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import { findTranslation } from '../../translation/find-translation.ts';

const chatOnly = findProvider('cometapi')!;
const picture = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'AA==' },
};

function rolesOf(endpoint: 'messages' | 'createModelResponse', request: JsonObject): unknown[] {
  const { body } = findTranslation(chatOnly, endpoint).encode(
    request,
    contextFor(chatOnly, true, { request }),
  );
  return ((body?.messages ?? []) as JsonObject[]).map(({ role }) => role);
}

describe('results of parallel calls, one with a picture', () => {
  it('stand together for a chat provider, the picture behind them', () => {
    const call = (call_id: string) => ({
      type: 'function_call',
      call_id,
      name: 'f',
      arguments: '',
    });
    const shown = [{ type: 'input_image', image_url: 'data:image/png;base64,AA==' }];
    const input: JsonObject[] = [
      { role: 'user', content: 'x' },
      call('a'),
      call('b'),
      { type: 'function_call_output', call_id: 'a', output: shown },
      { type: 'function_call_output', call_id: 'b', output: 'y' },
    ];
    const roles = ['user', 'assistant', 'tool', 'tool', 'user'];
    expect(rolesOf('createModelResponse', { model: 'm', input })).toEqual(roles);
    const result = (tool_use_id: string, content: unknown) => ({
      type: 'tool_result',
      tool_use_id,
      content,
    });
    const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: [use('a'), use('b')] },
      { role: 'user', content: [result('a', [picture])] },
      { role: 'user', content: [result('b', 'y'), { type: 'text', text: 'go on' }] },
    ] as JsonObject[];
    expect(rolesOf('messages', { model: 'm', max_tokens: 9, messages })).toEqual([
      ...roles,
      'user',
    ]);
  });
});
