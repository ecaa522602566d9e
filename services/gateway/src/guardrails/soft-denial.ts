import { type CalledId, type ErrorShape, operations } from '@sluice/contracts';
import { isStreamable, type JsonObject, replayAsStream } from '@sluice/providers';
import { type HookResult, hasRun } from './hook-results.ts';

/** Of a request that is denied, what its refusal is told by. */
export interface DeniedRequest {
  readonly endpoint: CalledId;
  /** In whose words. */
  readonly errors: ErrorShape;
  readonly requestId: string;
  /** As the caller named it. */
  readonly model: string;
  readonly wantsStream: boolean;
  /** Its stream is to tell what it used. */
  readonly asksForUsage: boolean;
  /** A stream has no items but those of its format. */
  readonly isStrict: boolean;
  /** Unix ms. */
  readonly nowMs: number;
}

/** Whether everything that denies wants it told as an answer: one that does not is heard. */
export function isSoft(results: readonly HookResult[]): boolean {
  const denying = results.filter(hasRun).filter(({ deny }) => deny);
  return denying.length > 0 && denying.every((result) => result.soft_deny_200 === true);
}

/**
 * A refusal as an answer that says why: for clients that give up at any status
 * of an error. Undefined where the operation's answers are no texts.
 */
export function softAnswer(denied: DeniedRequest, text: string): JsonObject | undefined {
  const { endpoint, requestId, model, nowMs } = denied;
  const created = Math.floor(nowMs / 1000);
  switch (operations[endpoint].format) {
    case 'openai-chat':
      return {
        id: `chatcmpl-${requestId}`,
        object: 'chat.completion',
        created,
        model,
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: text, refusal: null },
            logprobs: null,
            finish_reason: 'stop',
          },
        ],
        usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
      };
    case 'openai-completions':
      return {
        id: `cmpl-${requestId}`,
        object: 'text_completion',
        created,
        model,
        choices: [{ index: 0, text, logprobs: null, finish_reason: 'stop' }],
        usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
      };
    case 'anthropic-messages':
      return {
        id: `msg_${requestId}`,
        type: 'message',
        role: 'assistant',
        model,
        content: [{ type: 'text', text }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 0, output_tokens: 0 },
      };
    case 'openai-responses':
      return {
        id: `resp_${requestId}`,
        object: 'response',
        created_at: created,
        status: 'completed',
        error: null,
        incomplete_details: null,
        instructions: null,
        metadata: {},
        model,
        output: [
          {
            id: `msg_${requestId}`,
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
          },
        ],
        parallel_tool_calls: true,
        temperature: null,
        tool_choice: 'auto',
        tools: [],
        top_p: null,
        usage: {
          input_tokens: 0,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: 0,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 0,
        },
      };
    default:
      return undefined;
  }
}

/** The same told as a stream of the operation's format. */
export function softEvents(
  { endpoint, asksForUsage }: DeniedRequest,
  answer: JsonObject,
): Buffer | undefined {
  const { format } = operations[endpoint];
  if (!isStreamable(format)) return undefined;
  const events = replayAsStream(format, answer, { includeUsage: asksForUsage });
  return events && Buffer.concat(events);
}
