import { describe, expect, it } from 'vitest';
import { findDone, findMarker } from './stream-markers.ts';

const found = (text: string): boolean => findMarker(Buffer.from(text), 0) !== -1;

describe('findMarker', () => {
  it.each([
    '{"usage":{"prompt_tokens":1}}',
    '{"a":1,"usage": {"x":1}}',
    '{"choices":[{"finish_reason":"stop"}]}',
    '{"finish_reason": "stop"}',
    '{"error":{"message":"x"}}',
    '{"error": "x"}',
    '{"type":"message_delta"}',
    '{"type": "message_stop"}',
    '{"type":"error"}',
    '{"type":"response.completed","response":{"usage":null}}',
    '{"type": "response.incomplete"}',
    '{"sequence_number":7,"type":"response.failed"}',
    '{"type":"response.output_item.done","item":{"id":"ws_1","type":"web_search_call"}}',
    '{"content_block":{"type": "web_search_tool_result","content":[]}}',
  ])('sees %s, at an even and at an odd place', (text) => {
    expect(found(text)).toBe(true);
    expect(found(` ${text}`)).toBe(true);
  });

  it.each([
    '{"usage":null,"finish_reason":null,"error":null}',
    '{"type":"content_block_delta"}',
    '{"type":"response.output_text.delta","delta":"response.completed"}',
    '{"type":"response.created","response":{"status":"completed","usage":null}}',
    '{"type":"response.mcp_call.failed"}',
    '{"type":"function_call","name":"web_search_call"}',
    JSON.stringify({ content: '"usage":{"error":{"finish_reason":"stop"' }),
    '{"my_usage":{},"object":"x","reason":"y","terror":{}}',
    'data: hello',
  ])('passes over %s', (text) => {
    expect(found(text)).toBe(false);
    expect(found(` ${text}`)).toBe(false);
  });
});

describe('findDone', () => {
  it.each(['data: [DONE]\n\n', 'data:[DONE]', 'data: [DONE]\r\n\r\n \n'])('sees %j', (text) => {
    expect(findDone(Buffer.from(text))).toBe(text.indexOf('['));
  });
  it.each(['', '\n\n', 'data: []\n\n', 'data: [DONE]\n\ndata: x\n\n'])('passes over %j', (text) => {
    expect(findDone(Buffer.from(text))).toBe(-1);
  });
});
