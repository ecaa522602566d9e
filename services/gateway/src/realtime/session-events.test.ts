import { describe, expect, it } from 'vitest';
import { SessionEvents } from './session-events.ts';
import type { SessionGuards } from './session-guards.ts';
import type { UsedEvent } from './session-meter.ts';

const told = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
const said = 'It is as it was, and so it stays. '.repeat(8);

function hear(...events: object[]) {
  const used: UsedEvent[] = [];
  const session = new SessionEvents({ used: (event) => used.push(event), told() {} });
  for (const event of events) session.read(Buffer.from(JSON.stringify(event)));
  return { used };
}

const begin = (id: string) => ({ type: 'response.created', response: { id } });
const delta = {
  type: 'response.output_text.delta',
  event_id: 'event_B1lR9mTFjzLcCzvDvPbFt',
  response_id: 'resp_B1lR8cUMBvWCXIUrOnEcZ',
  item_id: 'item_B1lR8vPbk0CXyjCzUDHSN',
  output_index: 0,
  content_index: 0,
  delta: said,
};
const done = (id: string, usage?: unknown, status = 'completed') => ({
  type: 'response.done',
  response: { id, status, ...(usage === undefined ? {} : { usage }) },
});

describe('a session', () => {
  it('has what tools of the model’s are called with judged, whoever runs them', () => {
    const judged: string[] = [];
    const guards = {
      hearsModel: true,
      judge: (by: string, text: string) => Promise.resolve(void judged.push(`${by}: ${text}`)),
    } as unknown as SessionGuards;
    const session = new SessionEvents({ used() {}, told() {} }, { guards });
    for (const kind of ['function_call', 'mcp_call'])
      session.read(
        Buffer.from(
          JSON.stringify({
            type: `response.${kind}_arguments.done`,
            item_id: 'i',
            arguments: kind,
          }),
        ),
      );
    expect(judged).toEqual(['model: function_call', 'model: mcp_call']);
  });

  it('is billed for a response that counts nothing by what was heard of it', () => {
    for (const status of ['completed', 'cancelled', 'incomplete']) {
      const { used } = hear(
        begin('a'),
        done('a', told),
        begin('b'),
        delta,
        done('b', null, status),
      );
      expect(used[1]?.facts).toMatchObject({ isEstimate: true, usage: { inputTokens: 120 } });
      const { outputTokens = 0 } = used[1]?.facts.usage ?? {};
      expect(outputTokens).toBeGreaterThan((said.length / 4) * 0.8);
      expect(outputTokens).toBeLessThan((said.length / 4) * 1.5);
    }
    const { used } = hear(begin('a'), delta, done('a', undefined, 'failed'));
    expect(used[0]?.facts.usage).toBeUndefined();
  });

  it('is billed for an hour of speech at most, whatever the provider tells of it', () => {
    const { used } = hear(
      { type: 'session.created', session: { input_audio_transcription: { model: 'whisper-1' } } },
      { type: 'input_audio_buffer.speech_started', audio_start_ms: 0 },
      { type: 'input_audio_buffer.speech_stopped', audio_end_ms: 9e15 },
      { type: 'input_audio_buffer.committed', item_id: 'i' },
      { type: 'conversation.item.input_audio_transcription.completed', item_id: 'i' },
      ...Array.from({ length: 1000 }, () => [
        { type: 'input_audio_buffer.speech_started', audio_start_ms: 0 },
        { type: 'input_audio_buffer.speech_stopped', audio_end_ms: 9e15 },
        { type: 'input_audio_buffer.committed', item_id: 'j' },
      ]).flat(),
      begin('a'),
      done('a', null),
    );
    expect(used.map(({ facts }) => facts)).toMatchObject([
      { usage: { inputAudioTokens: 36_000 }, units: { audioSeconds: 3600 } },
      { usage: { inputTokens: 20_000_000, inputAudioTokens: 20_000_000 } },
    ]);
  });

  it('is billed for what a response counts beside pictures of megabytes', () => {
    const picture = { type: 'image_generation_call', status: 'completed', result: 'A'.repeat(3e6) };
    const end = {
      type: 'response.completed',
      response: { id: 'a', status: 'completed', output: [picture, picture], usage: told },
    };
    expect(hear(begin('a'), end).used.map(({ facts }) => facts)).toEqual([
      expect.objectContaining({
        usage: expect.objectContaining({ inputTokens: 100, outputTokens: 20 }),
        units: { imageGenerations: 2 },
      }),
    ]);
  });

  it('is billed once for a response, however often its end is told', () => {
    const { used } = hear(begin('a'), done('a', told), done('a', told), done('b', told));
    expect(used.map(({ facts }) => facts.id)).toEqual(['a', 'b']);
  });

  it.each([
    ['beyond all measure', { input_tokens: 1e300, output_tokens: 5 }],
    ['below zero', { input_tokens: -100, output_tokens: 5 }],
    ['no number', { input_tokens: '100', output_tokens: 5 }],
    ['absent', undefined],
  ])('takes no context from usage that is %s', (_what, usage) => {
    const { used } = hear(
      begin('a'),
      done('a', told),
      begin('b'),
      done('b', usage),
      begin('c'),
      delta,
      done('c'),
    );
    expect(used[2]?.facts.usage?.inputTokens).toBe(120);
  });
});
