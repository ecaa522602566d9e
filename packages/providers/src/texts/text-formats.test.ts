import {
  type AnsweringFormatOf,
  type CheckedFormatOf,
  endpoints,
  type ModelOperation,
  operations,
  type StreamableFormatOf,
} from '@sluice/contracts';
import { expect, it } from 'vitest';
import { isStreamable } from '../replay/kept-answers.ts';
import type { AnswerFormat, TextFormat } from './text-format.ts';
import { answerFormat, answerFormats, textFormat, textFormats } from './text-formats.ts';

/** An operation that nothing here knows the format of. */
const summarise = {
  ...operations.chatComplete,
  at: 'POST /v1/summaries',
  format: 'acme-summaries',
  hooks: { input: 'all', output: 'all' },
  cache: 'stream',
} as const satisfies ModelOperation;
type Table = { summarise: typeof summarise };

it('a row whose format nobody can read does not compile', () => {
  // @ts-expect-error -- hooks read its requests: its texts have to be known
  const asked: Readonly<Record<CheckedFormatOf<Table>, TextFormat>> = textFormats;
  // @ts-expect-error -- hooks read its replies, and its streams
  const answered: Readonly<Record<AnsweringFormatOf<Table>, AnswerFormat>> = answerFormats;
  // @ts-expect-error -- its answers are kept, and told as JSON or as a stream
  const kept: StreamableFormatOf<Table> = 'openai-chat';
  expect([asked, answered, kept]).toHaveLength(3);
});

it('the formats that are read are those that the operations name', () => {
  for (const { id, format, hooks, cache } of endpoints) {
    const reads = hooks.input === 'all' || hooks.input === 'guardrails';
    expect(textFormat(format) !== undefined, id).toBe(reads);
    expect(answerFormat(format) !== undefined, id).toBe(hooks.output !== 'none');
    expect(isStreamable(format), id).toBe(cache === 'stream');
  }
});
