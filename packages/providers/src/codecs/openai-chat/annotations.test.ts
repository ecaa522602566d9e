import { type ChatStreamEvent, type JsonObject, noUsage } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { assembleStream } from '../../assemble/assemble-stream.ts';
import { openAiChat } from './index.ts';

const options = {
  provider: 'p',
  strict: true,
  nowMs: 0,
  requestedModel: 'm',
  request: {},
} as const;

function told(events: ChatStreamEvent[]): Buffer {
  const encoder = openAiChat.openEncoder(options);
  const last: ChatStreamEvent[] = [
    { type: 'finish', choice: 0, reason: 'stop' },
    { type: 'usage', usage: noUsage },
    { type: 'reply-end' },
  ];
  return Buffer.from([...events, ...last].map((event) => encoder.encode(event)).join(''));
}

const text = (block: number, said: string): ChatStreamEvent => ({
  type: 'text-delta',
  choice: 0,
  block,
  text: said,
});
const cite = (block: number, citation: JsonObject): ChatStreamEvent => ({
  type: 'citation',
  choice: 0,
  block,
  citation,
});
const page = (url: string, start_index: number, end_index: number) => ({
  type: 'url_citation',
  url_citation: { url, title: '', start_index, end_index },
});

describe('pages that a streamed answer rests on', () => {
  it('are told to callers of the standard, each with its place in the whole answer', () => {
    const stream = told([
      text(0, 'One. '),
      cite(1, { url: 'a' }),
      text(1, 'Two'),
      text(1, ' and a half.'),
      text(2, ' Three.'),
      cite(2, { url: 'b', start_index: 1, end_index: 6 }),
      cite(2, { document_title: 'no page' }),
    ]);
    const reply = assembleStream('openai-chat', stream);
    expect(reply).toMatchObject({
      choices: [
        {
          message: {
            content: 'One. Two and a half. Three.',
            annotations: [page('a', 5, 20), page('b', 21, 26)],
          },
        },
      ],
    });
  });

  it('cost an answer without any nothing', () => {
    expect(told([text(0, 'One.')]).toString()).not.toContain('annotations');
  });
});
