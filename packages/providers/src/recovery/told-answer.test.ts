import type { ChatStreamEvent } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { ToldAnswer } from './told-answer.ts';

const text: ChatStreamEvent = { type: 'text-delta', choice: 0, block: 0, text: 'Hi' };
const call: ChatStreamEvent = {
  type: 'tool-call-start',
  choice: 0,
  block: 1,
  call: 0,
  id: 'c',
  name: 'f',
};
const args = (piece: string): ChatStreamEvent => ({
  type: 'tool-call-delta',
  choice: 0,
  block: 1,
  call: 0,
  arguments: piece,
});

const finish: ChatStreamEvent = { type: 'finish', choice: 0, reason: 'stop' };
const fault = (kind: string, status: number): ChatStreamEvent => ({
  type: 'fault',
  kind,
  status,
  message: 'No.',
});

describe('an answer that was cut', () => {
  it.each<[string, ChatStreamEvent[], 'end' | 'more' | undefined]>([
    ['lacks more after a text', [text], 'more'],
    ['is beyond help after a piece of a call', [text, call, args('{"a":')], undefined],
    ['is beyond help when a call was only named', [call], undefined],
    ['lacks its end alone after a whole call', [text, call, args('{"a":'), args('1}')], 'end'],
    ['lacks its end alone once it is finished', [text, finish], 'end'],
    [
      'is beyond help when it is one of several',
      [{ ...text, choice: 1 } as ChatStreamEvent],
      undefined,
    ],
    [
      'is beyond help after a refusal',
      [{ type: 'refusal-delta', choice: 0, text: 'No' }],
      undefined,
    ],
    [
      'lacks more where the provider could not go on',
      [text, fault('overloaded_error', 529)],
      'more',
    ],
    ['or was asked too much at once', [text, fault('rate_limit_error', 429)], 'more'],
    [
      'is beyond help where the request is at fault',
      [text, fault('invalid_request_error', 400)],
      undefined,
    ],
    ['or its content', [text, fault('content_filter', 500)], undefined],
    ['lacks its end alone when that came before', [text, finish, fault('api_error', 500)], 'end'],
  ])('%s', (_, events, lacks) => {
    const told = new ToldAnswer();
    for (const event of events) told.note(event);
    expect(told.lacks).toBe(lacks);
  });
});
