import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { CallContext } from '../../contract.ts';
import { stringOf } from '../../json/json-access.ts';
import type { ModelFacts } from '../../models/model-facts.ts';
import { factsOfListedOpenAi } from '../../models/openai.ts';
import { type FittedRequest, fittedBy } from '../fitted-request.ts';
import { encodeEffort, isSamplingFixed, samplingFields } from '../openai-abilities.ts';

/**
 * Who serves OpenAI's models as OpenAI does; others take more or less of the format, whatever the model.
 * https://learn.microsoft.com/azure/ai-foundry/openai/how-to/reasoning, November 2026
 */
const ownHosts: ReadonlySet<string> = new Set(['openai', 'azure-openai']);

/**
 * What a native request asks of a model of OpenAI's that is known to refuse it: sampling and `max_tokens` of one that reasons,
 * an effort that it does not have. Undefined where there is none of it.
 */
export function fitToModel(body: JsonObject, context: CallContext): FittedRequest | undefined {
  const isEffortAsked = isAsked(body.reasoning_effort);
  if (!isEffortAsked && !isAsked(body.max_tokens) && !asksForSampling(body)) return undefined;
  const { provider, modelOverrides } = context;
  if (!ownHosts.has(provider.id)) return undefined;
  const name = provider.modelBehind?.(context) ?? stringOf(body.model) ?? context.model;
  const facts = factsOfListedOpenAi(name, modelOverrides);
  if (facts === undefined || (facts.efforts.length === 0 && !isEffortAsked)) return undefined;
  const fitting = new Fitting(body);
  const effort = fitting.reason(facts);
  if (isSamplingFixed(facts, effort)) fitting.unsample();
  if (facts.efforts.length > 0) fitting.renameMax();
  return fittedBy(fitting.edits, fitting.dropped);
}

/** What is `null` is as if it was not there. */
function isAsked(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}

function asksForSampling(body: JsonObject): boolean {
  return samplingFields.some(([, name]) => isAsked(body[name]));
}

class Fitting {
  readonly edits: Record<string, JsonValue | undefined> = {};
  readonly dropped: string[] = [];
  #body: JsonObject;

  constructor(body: JsonObject) {
    this.#body = body;
  }

  /** The effort as the model has it, or the nearest; what is no text is the provider's to judge. */
  reason(facts: ModelFacts): string | undefined {
    const asked = stringOf(this.#body.reasoning_effort);
    if (asked === undefined) return undefined;
    const effort = encodeEffort({ effort: asked }, facts, 'chat', this.dropped);
    if (effort !== asked) this.edits.reasoning_effort = effort;
    return effort;
  }

  unsample(): void {
    for (const [, name, none] of samplingFields) {
      const value = this.#body[name];
      if (!isAsked(value)) continue;
      if (value !== none) this.dropped.push(name);
      this.edits[name] = undefined;
    }
  }

  /** Models that reason count their thoughts as well, and have another name for it. */
  renameMax(): void {
    const { max_tokens, max_completion_tokens } = this.#body;
    if (!isAsked(max_tokens)) return;
    this.edits.max_tokens = undefined;
    if (isAsked(max_completion_tokens)) this.dropped.push('max_tokens');
    else this.edits.max_completion_tokens = max_tokens;
  }
}
