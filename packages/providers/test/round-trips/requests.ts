/** Conversations whose calls are all answered, with all that may be asked of a model. */
import type { ChatMessage, ChatPart, ChatRequest, ChatTool, ToolCallPart } from '@sluice/contracts';
import fc from 'fast-check';
import { among, type Features, fields } from './features.ts';
import { cacheControl, call, imagePart, textPart, thinkingPart, userParts, word } from './parts.ts';

interface Turn {
  user: ChatPart[];
  name: string | undefined;
  thinking: ChatPart | undefined;
  answer: ChatPart;
  calls: Omit<ToolCallPart, 'id'>[];
  results: { text: ChatPart; image: ChatPart | undefined; isError: boolean }[];
}

/** Calls are answered, all of them and in their order. */
function turn(features: Features): fc.Arbitrary<Turn> {
  const image = features.has('result-images')
    ? fc.option(imagePart(features), { nil: undefined })
    : fc.constant(undefined);
  const isSigned = features.has('signed-thinking');
  return fc.record({
    user: userParts(features),
    name: features.has('name') ? fc.option(word, { nil: undefined }) : fc.constant(undefined),
    thinking:
      isSigned || features.has('unsigned-thinking')
        ? fc.option(thinkingPart(features, isSigned, 'redacted-thinking'), { nil: undefined })
        : fc.constant(undefined),
    answer: textPart(features),
    calls: fc.array(call, { maxLength: 3 }),
    results: fc.array(
      fc.record({
        text: textPart(features),
        image,
        isError: features.has('result-error') ? fc.boolean() : fc.constant(false),
      }),
      { minLength: 3, maxLength: 3 },
    ),
  });
}

function messagesOf(turns: Turn[], system: ChatPart[], last: ChatPart[]): ChatMessage[] {
  const path = 'generated';
  const messages: ChatMessage[] = [];
  if (system.length > 0) messages.push({ role: 'system', parts: system, path });
  for (const [index, part] of turns.entries()) {
    const named = part.name === undefined ? {} : { name: part.name };
    messages.push({ role: 'user', parts: part.user, path, ...named });
    const calls = part.calls.map((value, at) => ({ ...value, id: `call_${index}_${at}` }));
    const thinking = part.thinking === undefined ? [] : [part.thinking];
    messages.push({ role: 'assistant', parts: [...thinking, part.answer, ...calls], path });
    if (calls.length === 0) continue;
    const results = calls.map((value, at): ChatPart => {
      const { text: told, image, isError } = part.results[at] as Turn['results'][number];
      const content = (image === undefined ? [told] : [told, image]) as never;
      const flagged = isError ? { isError } : {};
      return { type: 'tool-result', toolCallId: value.id, content, ...flagged };
    });
    messages.push({ role: 'tool', parts: results, path });
    messages.push({ role: 'assistant', parts: [part.answer], path });
  }
  messages.push({ role: 'user', parts: last, path });
  return messages;
}

const schema = {
  type: 'object',
  properties: { city: { type: 'string', description: 'Where' } },
  required: ['city'],
  additionalProperties: false,
};

function toolsOf(features: Features): fc.Arbitrary<ChatTool[]> {
  const strict = features.has('strict-tools') ? fc.boolean() : fc.constant(undefined);
  const cached = fields(features, [['cache-control', 'cacheControl', cacheControl]]);
  return fc.tuple(strict, cached).map(([isStrict, rest]) =>
    ['weather', 'clock'].map((name, index) => ({
      type: 'function' as const,
      name,
      description: `Tells the ${name}`,
      parameters: schema,
      path: `tools[${index}]`,
      ...(isStrict === undefined ? {} : { strict: isStrict }),
      ...rest,
    })),
  );
}

function toolChoice(features: Features): fc.Arbitrary<ChatRequest['toolChoice']> {
  return among<ChatRequest['toolChoice']>(features, [
    [undefined, fc.constant({ type: 'required' })],
    ['choice-none', fc.constant({ type: 'none' })],
    [undefined, fc.constant({ type: 'auto' })],
    ['choice-of-tool', fc.constant({ type: 'tool', name: 'clock' })],
  ]);
}

function responseFormat(features: Features): fc.Arbitrary<ChatRequest['responseFormat']> {
  const named = features.has('schema-name') ? { name: 'answer' } : {};
  return among<ChatRequest['responseFormat']>(features, [
    [undefined, fc.constant(undefined)],
    ['json', fc.constant({ type: 'json' })],
    ['schema', fc.constant({ type: 'json-schema', schema, ...named })],
  ]);
}

/** Thinking shuts out most of how else a model may be told to answer. */
function settings(features: Features): fc.Arbitrary<Record<string, unknown>> {
  const ratio = fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10);
  /** Cohere has neither all nor nothing of it. */
  const share = fc.integer({ min: 1, max: 99 }).map((hundredths) => hundredths / 100);
  const free = fields(features, [
    // One of the two, since not every model takes both.
    features.has('top-p') ? ['top-p', 'topP', share] : [undefined, 'temperature', ratio],
    ['top-k', 'topK', fc.integer({ min: 1, max: 40 })],
    ['penalties', 'frequencyPenalty', ratio],
    ['penalties', 'presencePenalty', ratio],
    [undefined, 'toolChoice', toolChoice(features)],
  ]);
  const thinking = among<Record<string, unknown>>(features, [
    [undefined, free],
    [
      'effort',
      fc.constantFrom('low', 'medium', 'high').map((effort) => ({ reasoning: { effort } })),
    ],
    [
      'budget',
      fc
        .integer({ min: 1024, max: 4000 })
        .map((budgetTokens) => ({ reasoning: { mode: 'enabled', budgetTokens } })),
    ],
  ]);
  const rest = fields(features, [
    ['seed', 'seed', fc.nat()],
    ['logprobs', 'logprobs', fc.constant(true)],
    ['top-logprobs', 'topLogprobs', fc.integer({ min: 1, max: 5 })],
    ['logit-bias', 'logitBias', fc.constant({ '50256': -100 })],
    ['several-choices', 'choices', fc.integer({ min: 1, max: 3 })],
    ['stop', 'stop', fc.array(word, { minLength: 1, maxLength: 4 })],
    ['user', 'user', word],
    ['one-call-at-a-time', 'parallelToolCalls', fc.constant(false)],
    [undefined, 'stream', fc.constant(true)],
  ]);
  return fc.tuple(thinking, rest).map(([first, second]) => {
    const more: Record<string, unknown> = { ...first, ...second };
    // Where there are no calls, there are not several at a time.
    if ((more.toolChoice as ChatRequest['toolChoice'])?.type === 'none')
      delete more.parallelToolCalls;
    return more;
  });
}

export function request(features: Features): fc.Arbitrary<ChatRequest> {
  return fc
    .record({
      turns: fc.array(turn(features), { maxLength: 2 }),
      system: fc.array(textPart(features), { maxLength: 1 }),
      last: userParts(features),
      tools: toolsOf(features),
      format: responseFormat(features),
      more: settings(features),
      limit: fc.integer({ min: 5000, max: 9000 }),
    })
    .map(({ turns, system, last, tools, format, more, limit }) => ({
      model: 'claude-opus-4-6',
      stream: false,
      messages: messagesOf(turns, system, last),
      tools,
      outputTokensMax: limit,
      extensions: { format: 'generated', fields: {} },
      ...(format === undefined ? {} : { responseFormat: format }),
      ...more,
    }));
}
