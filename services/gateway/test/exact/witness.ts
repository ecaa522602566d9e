import { setTimeout as delay } from 'node:timers/promises';
import { json, type RecordedRequest, sse, type UpstreamReply } from '@sluice/testkit';

/** Nano-dollars a token of gpt-4o. */
const prices = { input: 2500, output: 10_000 };

/** A provider that remembers what each call of it cost. */
export class Witness {
  /** By what the caller named the call. */
  readonly costs = new Map<string, number>();
  #told = 0;
  readonly #waitMs: (toldNanoUsd: number) => number;

  constructor(waitMs: (toldNanoUsd: number) => number) {
    this.#waitMs = waitMs;
  }

  /** Of all answers that were begun. */
  get toldNanoUsd(): number {
    return this.#told;
  }

  readonly answer = async (request: RecordedRequest): Promise<UpstreamReply> => {
    const body = request.json() as {
      messages: { content: string }[];
      max_tokens: number;
      stream?: boolean;
    };
    const usage = {
      prompt_tokens: 3,
      completion_tokens: 1 + Math.floor(Math.random() * body.max_tokens),
    };
    const cost = usage.prompt_tokens * prices.input + usage.completion_tokens * prices.output;
    this.costs.set(body.messages[0]?.content ?? '', cost);
    const waitMs = this.#waitMs(this.#told) * (0.5 + Math.random());
    this.#told += cost;
    const total = { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens };
    const common = { id: 'c', created: 1, model: 'gpt-4o' };
    if (body.stream !== true) {
      await delay(waitMs);
      const message = { role: 'assistant', content: 'Yes.' };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      return json(200, { ...common, object: 'chat.completion', choices, usage: total });
    }
    const chunk = (more: object) => ({ ...common, object: 'chat.completion.chunk', ...more });
    const delta = (content: string, finish_reason: string | null) =>
      chunk({ choices: [{ index: 0, delta: { content }, finish_reason }] });
    return sse(
      [
        delta('Y', null),
        delta('e', null),
        delta('s.', 'stop'),
        chunk({ choices: [], usage: total }),
        '[DONE]',
      ],
      { delayMs: waitMs / 4 },
    );
  };
}
