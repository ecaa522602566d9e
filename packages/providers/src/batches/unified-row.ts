import type { JsonObject } from '@sluice/contracts';
import type { CallContext, ProviderEntry, ReplyFacts } from '../contract.ts';
import type { ModelOverrides } from '../models/model-overrides.ts';
import type { RowEndpoint, VendorResult } from './row.ts';

/** What rows may depend on beside themselves. All of it may be left out. */
export interface RowOptions {
  /** What all lines ask for, e.g. `/v1/chat/completions`: others are refused. Of results: in whose shape replies are told. */
  readonly endpoint?: string;
  /** In the place of what lines name; of results, where they do not name it. */
  readonly model?: string;
  readonly setting?: (name: string) => string | undefined;
  readonly modelOverrides?: ModelOverrides;
  readonly strictOpenAiCompliance?: boolean;
  readonly nowMs?: number;
}

/** A line of results, as OpenAI tells it, and what it says of itself. */
export interface UnifiedRow {
  readonly customId: string;
  readonly endpoint: RowEndpoint;
  /** Answered, and so to be paid, also in words that nobody reads here: then it is told as a failure, by its status. */
  readonly isSuccess: boolean;
  readonly status: number;
  readonly facts: ReplyFacts;
  /** What was asked, in the vendor's words, where its row repeats it. */
  readonly asked?: JsonObject;
  /** Without a line end. */
  readonly bytes: Buffer;
}

/** Whether the line was answered, and so is to be paid. */
export function isAnswer({ status, reply }: VendorResult): boolean {
  return reply !== undefined && status >= 200 && status <= 299;
}

export function contextOf(
  provider: ProviderEntry,
  model: string,
  request: JsonObject,
  options: RowOptions,
): CallContext {
  return {
    provider,
    model,
    stream: false,
    setting: options.setting ?? (() => undefined),
    request,
    strictOpenAiCompliance: options.strictOpenAiCompliance ?? true,
    nowMs: options.nowMs ?? 0,
    ...(options.modelOverrides === undefined ? {} : { modelOverrides: options.modelOverrides }),
  };
}
