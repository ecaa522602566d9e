// Wire format: https://platform.openai.com/docs/api-reference/completions
import { answerTo, tokensIn } from './answer-text.ts';
import { createdAt, invalidType, missing, optionalNumber } from './openai-vendor.ts';
import { type DemoAnswer, type DemoBody, type DemoContext, isObject } from './protocol.ts';

export function createCompletion(body: DemoBody, context: DemoContext): DemoAnswer {
  if (body.prompt === undefined) throw missing('prompt');
  const prompt = Array.isArray(body.prompt) ? body.prompt.map(String).join(' ') : body.prompt;
  if (typeof prompt !== 'string') throw invalidType('prompt', 'a string', body.prompt);
  const answer = answerTo(prompt, context.script, optionalNumber(body.max_tokens, 'max_tokens', 1));
  const promptTokens = tokensIn(prompt);
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: answer.tokens,
    total_tokens: promptTokens + answer.tokens,
  };
  const common = {
    id: `cmpl-demo${context.bytes.toString(36)}`,
    object: 'text_completion',
    created: createdAt,
    model: body.model,
  };
  const choice = (text: string, finish: string | null) => ({
    text,
    index: 0,
    logprobs: null,
    finish_reason: finish,
  });
  const finish = answer.isCut ? 'length' : 'stop';
  if (body.stream !== true)
    return {
      kind: 'json',
      body: { ...common, choices: [choice(answer.pieces.join(''), finish)], usage },
    };
  const includeUsage = isObject(body.stream_options) && body.stream_options.include_usage === true;
  const events = [
    ...answer.pieces.map((piece) => ({ ...common, choices: [choice(piece, null)] })),
    { ...common, choices: [choice('', finish)] },
    ...(includeUsage ? [{ ...common, choices: [], usage }] : []),
  ];
  return {
    kind: 'sse',
    eventDelayMs: context.script.eventDelayMs,
    events: [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'],
  };
}
