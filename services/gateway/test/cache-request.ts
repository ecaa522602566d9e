import type { CacheRequest, SemanticAsk } from '../src/cache/request.ts';
import type { ReplySink, StreamReply } from '../src/exchange/reply.ts';

/** A chat request whose rule lets it be answered from the cache. */
export function exampleCacheRequest(over: Partial<CacheRequest> = {}): CacheRequest {
  return {
    rule: { maxAgeS: undefined, semantic: undefined },
    maxAgeCapS: 0,
    endpoint: 'chatComplete',
    organisationId: 'org-1',
    workspaceId: 'ws-1',
    credential: '@openai',
    provider: 'openai',
    origin: 'https://api.example.com',
    path: '/v1/chat/completions',
    method: 'POST',
    sentJson: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
    model: 'm',
    metadata: {},
    namespace: undefined,
    upstreamHeaders: {},
    forwardsCallersHeaders: false,
    generation: '',
    checkedBy: '',
    wantsStream: false,
    forceRefresh: false,
    signal: new AbortController().signal,
    strictOpenAiCompliance: true,
    ...over,
  };
}

/** What finds the same question in other words; all questions are alike to it. */
export function exampleSemanticAsk(over: Partial<SemanticAsk> = {}): SemanticAsk {
  return {
    threshold: 0.95,
    isShadow: false,
    askedJson: exampleCacheRequest().sentJson,
    bodyBytes: 100,
    embedder: '@vectors|m|2',
    embed: async () => Float32Array.of(1, 0),
    ...over,
  };
}

export const exampleChatReply = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_741_569_952,
  model: 'gpt-4.1',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Grüße 👋🏽', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
};

/** A stream whose bytes a test sends by hand. */
export interface ManualStream {
  reply: StreamReply;
  sink(): ReplySink;
  isDiscarded: boolean;
}

export function manualStream(over: Partial<StreamReply> = {}): ManualStream {
  let sink: ReplySink | undefined;
  const manual: ManualStream = {
    reply: {
      kind: 'stream',
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      pipeTo(target) {
        sink = target;
      },
      discard() {
        manual.isDiscarded = true;
      },
      wasWhole: () => true,
      ...over,
    },
    sink() {
      if (sink === undefined) throw new Error('nobody reads this stream');
      return sink;
    },
    isDiscarded: false,
  };
  return manual;
}

/** A caller's side that writes down what it gets. */
export class RecordingSink implements ReplySink {
  readonly chunks: Buffer[] = [];
  /** What `write` answers: whether the caller reads fast enough. */
  wantsMore = true;
  drain: (() => void) | undefined;
  ending = '';

  get text(): string {
    return Buffer.concat(this.chunks).toString();
  }
  write(chunk: Buffer): boolean {
    this.chunks.push(chunk);
    return this.wantsMore;
  }
  onDrain(listener: () => void): void {
    this.drain = listener;
  }
  end(): void {
    this.ending = 'end';
  }
  cut(code: string): void {
    this.ending = code;
  }
}
