import { json, type SseOptions, sse, type UpstreamReply } from '@sluice/testkit';
import { chatReply } from './scenario.ts';

/** What vendors answer, in their own words. All answers cost 1000 input and 500 output tokens. */

/** Of 1000 + 500 tokens, by the price book. */
export const costOfReply = { openai: 450_000, anthropic: 10_500_000 } as const;

export const openAiReply = json(200, chatReply);

export function openAiError(
  status: number,
  code: string,
  headers: Record<string, string> = {},
): UpstreamReply {
  return json(status, openAiErrorBody(code), headers);
}

export function openAiErrorBody(code: string) {
  return { error: { message: `The vendor says ${code}.`, type: code, param: null, code } };
}

export function anthropicError(status: number, type: string, message = type): UpstreamReply {
  return json(status, { type: 'error', error: { type, message } });
}

/** Google tells in the body alone when to come again. */
export function googleBusyFor(retryDelay: string): UpstreamReply {
  const type = (name: string) => `type.googleapis.com/google.rpc.${name}`;
  return json(429, {
    error: {
      code: 429,
      message: 'You exceeded your current quota.',
      status: 'RESOURCE_EXHAUSTED',
      details: [
        { '@type': type('QuotaFailure'), violations: [{ quotaId: 'PerMinute' }] },
        { '@type': type('RetryInfo'), retryDelay },
      ],
    },
  });
}

const openAiChunk = (delta: object, finish: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: chatReply.model,
  choices: [{ index: 0, delta, finish_reason: finish }],
});

/** A whole stream: role, a content chunk for each text, finish, usage, `[DONE]`. */
export function openAiEvents(...texts: string[]): string[] {
  return [
    openAiChunk({ role: 'assistant', content: '' }),
    ...texts.map((content) => openAiChunk({ content })),
    openAiChunk({}, 'stop'),
    { ...openAiChunk({}), choices: [], usage: chatReply.usage },
  ]
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .concat('data: [DONE]\n\n');
}

export const anthropicReplyBody = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Hi there' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1000, output_tokens: 500 },
};
export const anthropicReply = json(200, anthropicReplyBody);

export const anthropicEvent = (data: { type: string } & Record<string, unknown>): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

export const anthropicOverloaded = anthropicEvent({
  type: 'error',
  error: { type: 'overloaded_error', message: 'Overloaded' },
});

/** A whole stream: message_start, one text block with a delta for each text, message_stop. */
export function anthropicEvents(...texts: string[]): string[] {
  return [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 1000, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...texts.map((text) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 500 },
    },
    { type: 'message_stop' },
  ].map(anthropicEvent);
}

/** From a caller's format to an upstream's, and how a stream looks on either side. */
export interface StreamRoad {
  name: string;
  callerFormat: 'openai' | 'anthropic';
  isNative: boolean;
  path: string;
  body: object;
  provider: 'openai' | 'anthropic';
  /** A whole stream of the upstream's format with these texts. */
  events(...texts: string[]): string[];
  /** How many of the events come up to and with the first text. */
  eventsToFirstText: number;
}

const messages = [{ role: 'user', content: 'Hello' }];
const callers = {
  openai: {
    path: '/v1/chat/completions',
    body: (model: string) => ({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    }),
  },
  anthropic: {
    path: '/v1/messages',
    body: (model: string) => ({ model, messages, max_tokens: 600, stream: true }),
  },
} as const;
const upstreams = {
  openai: { model: 'gpt-4o-mini', events: openAiEvents, eventsToFirstText: 2 },
  anthropic: { model: 'claude-sonnet-4-5', events: anthropicEvents, eventsToFirstText: 3 },
} as const;

/** Native and translated, both ways. */
export const streamRoads: readonly StreamRoad[] = (['openai', 'anthropic'] as const).flatMap(
  (callerFormat) =>
    (['openai', 'anthropic'] as const).map((provider) => {
      const { model, ...upstream } = upstreams[provider];
      return {
        name: `${callerFormat} caller, ${provider} upstream`,
        callerFormat,
        isNative: callerFormat === provider,
        provider,
        path: callers[callerFormat].path,
        body: callers[callerFormat].body(model),
        ...upstream,
      };
    }),
);

export function stream(events: readonly string[], options: SseOptions = {}): UpstreamReply {
  return sse(events, options);
}

/** The data of each event of a stream: parsed, or as text where it is no JSON. */
export function eventsOf(text: string): unknown[] {
  return text
    .split('\n\n')
    .flatMap((block) => block.split('\n').filter((line) => line.startsWith('data: ')))
    .map((line) => {
      try {
        return JSON.parse(line.slice(6)) as unknown;
      } catch {
        return line.slice(6);
      }
    });
}

/** The text that a stream carried, in either format. */
export function textOf(stream: string): string {
  return eventsOf(stream)
    .map((event) => {
      const { choices, delta } = event as {
        choices?: { delta?: { content?: string } }[];
        delta?: { text?: string };
      };
      return choices?.[0]?.delta?.content ?? delta?.text ?? '';
    })
    .join('');
}

/** The code of the error event that ends a stream; undefined = it does not end with one. */
export function endingError(stream: string): string | undefined {
  const last = eventsOf(stream).at(-1) as { error?: { code?: string; type?: string } } | undefined;
  return last?.error?.code ?? last?.error?.type;
}

/** Whether a stream was ended as a whole one, in either format. */
export function hasTerminator(stream: string): boolean {
  return /data: \[DONE\]|"type":"message_stop"/.test(stream);
}
