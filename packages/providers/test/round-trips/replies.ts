import type { ChatPart, ChatReply, ChatUsage } from '@sluice/contracts';
import fc from 'fast-check';
import { among, type Feature, type Features, fields } from './features.ts';
import { call, text, thinkingPart, word } from './parts.ts';

const count = fc.nat({ max: 900 });

function usage(features: Features): fc.Arbitrary<ChatUsage> {
  const counted = (feature: Feature) => (features.has(feature) ? count : fc.constant(0));
  return fc
    .record({
      uncached: count,
      output: count,
      read: count,
      written: counted('cache-writes'),
      hour: counted('cache-writes-1h'),
      thought: counted('reasoning-tokens'),
      heard: counted('audio-tokens'),
      spoken: counted('audio-tokens'),
    })
    .map((counts) => ({
      inputTokens: counts.uncached + counts.read + counts.written + counts.heard,
      outputTokens: counts.output + counts.thought + counts.spoken,
      cacheReadTokens: counts.read,
      cacheWriteTokens: counts.written,
      cacheWrite1hTokens: Math.min(counts.hour, counts.written),
      reasoningTokens: counts.thought,
      inputAudioTokens: counts.heard,
      outputAudioTokens: counts.spoken,
    }));
}

export function reply(features: Features): fc.Arbitrary<ChatReply> {
  const isSigned = features.has('reply-signature');
  const thinking = features.has('reply-thinking')
    ? fc.option(thinkingPart(features, isSigned, 'reply-redacted'), { nil: undefined })
    : fc.constant(undefined);
  const answer = among<ChatPart>(features, [
    [undefined, text.map((value) => ({ type: 'text', text: value }))],
    ['refusal', text.map((value) => ({ type: 'refusal', text: value }))],
  ]);
  const ending = among<object>(features, [
    [undefined, fc.constantFrom({ finishReason: 'stop' }, { finishReason: 'length' })],
    ['content-filter', fc.constant({ finishReason: 'content-filter' })],
    ['stop-sequence', word.map((stopSequence) => ({ finishReason: 'stop', stopSequence }))],
  ]);
  const logprobs = features.has('reply-logprobs')
    ? fc.constant({
        content: [{ token: 'a', logprob: -0.5, bytes: null, top_logprobs: [] }],
      })
    : fc.constant(undefined);
  const more = fields(features, [
    ['service-tier', 'serviceTier', fc.constantFrom('default', 'priority')],
  ]);
  return fc
    .record({
      thinking,
      answer,
      calls: fc.array(call, { maxLength: 3 }),
      ending,
      logprobs,
      counts: usage(features),
      more,
    })
    .map(
      ({
        thinking: thought,
        answer: told,
        calls,
        ending: end,
        logprobs: likely,
        counts,
        more: rest,
      }) => {
        const asked = calls.map((value, index) => ({ ...value, id: `call_${index}` }));
        const finish = asked.length > 0 ? { finishReason: 'tool-calls' } : end;
        const choice = {
          index: 0,
          parts: [...(thought === undefined ? [] : [thought]), told, ...asked],
          ...finish,
          // A refusal is not told token by token.
          ...(likely === undefined || told.type !== 'text' ? {} : { logprobs: likely }),
        } as ChatReply['choices'][number];
        return {
          id: 'reply-1',
          model: 'model-1',
          createdSeconds: 1_762_999_999,
          choices: [choice],
          usage: counts,
          extensions: { format: 'generated', fields: {} },
          ...rest,
        };
      },
    );
}
