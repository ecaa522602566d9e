import { describe, expect, it } from 'vitest';
import { endedWorkIn, mayTellOfWork } from './ended-work.ts';

const used = { id: 'x', status: 'completed', usage: { input_tokens: 1 } };
const ended = [
  { object: 'response', background: true, ...used },
  { object: 'thread.run', ...used },
  { object: 'video', id: 'x', status: 'completed', seconds: '4' },
  { object: 'fine_tuning.job', id: 'x', status: 'failed', trained_tokens: 3 },
];

describe('mayTellOfWork', () => {
  it.each(ended)('reads a $object that has ended, however it is written', (document) => {
    expect(endedWorkIn(document)).toBeDefined();
    const text = JSON.stringify(document);
    const escaped = text.replace(/[a-z]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
    const members = Object.entries(document).map(
      ([name, value]) => `\n"${name}" \t:\r ${JSON.stringify(value)} `,
    );
    for (const written of [text, escaped, `{${members.join(',')}}`, `{"object":1,${text.slice(1)}`])
      expect(mayTellOfWork(Buffer.from(written))).toBe(true);
  });

  it('does not read a response that was not made in the background', () => {
    const document = { object: 'response', background: false, ...used };
    expect(endedWorkIn(document)).toBeUndefined();
    expect(mayTellOfWork(Buffer.from(JSON.stringify(document, null, 2)))).toBe(false);
  });
});

const began = 1_800_000_000;
const usage = { input_tokens: 5, output_tokens: 7 };
const response = { object: 'response', id: 'r', background: true, status: 'completed', usage };
const run = { object: 'thread.run', id: 'r', status: 'completed', model: 'm', usage };
const video = { object: 'video', id: 'v', status: 'completed', model: 'm', seconds: '8' };
const job = { object: 'fine_tuning.job', id: 'j', status: 'succeeded', model: 'm' };
const counted = (units: object, isEstimated = false) => ({ model: 'm', units, isEstimated });

it.each<[string, Record<string, unknown>, object | undefined]>([
  ['a response', response, { document: response, format: 'openai-responses' }],
  ['one that was cut', { ...response, status: 'incomplete' }, { format: 'openai-responses' }],
  ['one that goes on', { ...response, status: 'in_progress' }, undefined],
  ['one that nobody counted', { ...response, usage: null }, undefined],
  ['one that was waited for', { ...response, background: false }, undefined],
  [
    'a run',
    run,
    {
      document: { object: 'chat.completion', id: 'r', model: 'm', usage, choices: [] },
      format: 'openai-chat',
    },
  ],
  ['one that ran out of time', { ...run, status: 'expired' }, { format: 'openai-chat' }],
  ['one that waits for its caller', { ...run, status: 'requires_action' }, undefined],
  ['a video', { ...video, size: '1280x720' }, counted({ videoSeconds: 8, videoSize: '1280x720' })],
  ['one of no told size', video, counted({ videoSeconds: 8 })],
  ['one that failed', { ...video, status: 'failed' }, undefined],
  ['one without a length', { ...video, seconds: 'long' }, undefined],
  ['a job', { ...job, trained_tokens: 900 }, counted({ trainedTokens: 900 })],
  [
    'one that was stopped',
    { ...job, status: 'cancelled', trained_tokens: 9 },
    counted({ trainedTokens: 9 }),
  ],
  ['one that trains', { ...job, status: 'running', trained_tokens: 9 }, undefined],
  [
    'one of which the time is told',
    { ...job, created_at: began, finished_at: began + 90 },
    counted({ trainingSeconds: 90 }, true),
  ],
  [
    'one of which both are',
    { ...job, trained_tokens: 900, created_at: began, finished_at: began + 90 },
    counted({ trainedTokens: 900, trainingSeconds: 90 }),
  ],
  [
    'one that failed after a time',
    { ...job, status: 'failed', created_at: began, finished_at: began + 90 },
    undefined,
  ],
  [
    'one that ended before it began',
    { ...job, created_at: began, finished_at: began - 90 },
    undefined,
  ],
  ['one without a name', { ...video, id: '' }, undefined],
  ['one with a name that nobody keeps', { ...video, id: 'v'.repeat(513) }, undefined],
  ['what no vendor has', { ...video, object: 'constructor' }, undefined],
])('bills of %s that has ended what it says', (_name, document, expected) => {
  const work = endedWorkIn(document);
  if (expected === undefined) expect(work).toBeUndefined();
  else expect(work?.used).toMatchObject(expected);
  const { units } = (work?.used ?? {}) as { units?: object };
  if (units !== undefined) expect(units).toEqual((expected as { units: object }).units);
});

it('tells when it began and ended, as its provider does', () => {
  const of = (times: object) => {
    const { createdAtMs, completedAtMs, status } = endedWorkIn({ ...video, ...times }) ?? {};
    return [createdAtMs, completedAtMs, status];
  };
  expect(of({ created_at: began, completed_at: began + 1.5 })).toEqual([
    began * 1000,
    began * 1000 + 1500,
    'completed',
  ]);
  expect(of({ created_at: '1', finished_at: began })).toEqual([0, began * 1000, 'completed']);
  expect(of({ created_at: -1 })).toEqual([0, 0, 'completed']);
});
