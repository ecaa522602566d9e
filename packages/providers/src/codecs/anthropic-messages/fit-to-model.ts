import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { CallContext } from '../../contract.ts';
import { arrayOf, numberOf, objectOf, stringOf } from '../../json/json-access.ts';
import { type ClaudeFacts, factsOfListedClaude } from '../../models/claude.ts';
import { type FittedRequest, fittedBy } from '../fitted-request.ts';
import { refusesSampling } from './api-version.ts';
import { effortOfBudget, isAbove, nearestEffort } from './efforts.ts';
import { forgetThread } from './forget-thread.ts';
import { encodeSampling } from './sampling.ts';
import { mayDemandCall } from './tool-choice.ts';

/**
 * What a native request asks that its model is known to refuse; undefined where
 * there is none of it. A request that asks for nothing that models differ in
 * costs a look at its members; that of a model that is not listed stays as it came.
 */
export function fitToModel(body: JsonObject, context: CallContext): FittedRequest | undefined {
  if (!asksOfModel(body)) return undefined;
  const name = stringOf(body.model) ?? context.model;
  const facts = factsOfListedClaude(name, context.modelOverrides);
  const fitting = new Fitting(body);
  if (keepsNoThreads.has(context.provider.id)) fitting.forget();
  if (asksForSampling(body) && refusesSampling(body.anthropic_version, context)) fitting.unsample();
  if (facts !== undefined) {
    if (facts.forcedWithoutThinkingAt?.includes(context.provider.id)) fitting.unthink(facts);
    fitting.think(facts);
    fitting.sample(facts);
    fitting.choose(facts);
  }
  return fittedBy(fitting.edits, fitting.dropped);
}

/** Claude as clouds run it themselves: https://platform.claude.com/docs/en/build-with-claude/message-threads */
const keepsNoThreads: ReadonlySet<string> = new Set(['bedrock', 'vertex-ai']);

function asksOfModel(body: JsonObject): boolean {
  return (
    body.thinking !== undefined ||
    body.output_config !== undefined ||
    body.tool_choice !== undefined ||
    body.thread !== undefined ||
    asksForSampling(body)
  );
}

function asksForSampling({ temperature, top_p, top_k }: JsonObject): boolean {
  return temperature !== undefined || top_p !== undefined || top_k !== undefined;
}

class Fitting {
  readonly edits: Record<string, JsonValue | undefined> = {};
  readonly dropped: string[] = [];
  #body: JsonObject;
  /** How the model is told to think, after all. */
  #type: string | undefined;

  constructor(body: JsonObject) {
    this.#body = body;
  }

  forget(): void {
    if (this.#body.thread === undefined) return;
    forgetThread(objectOf(this.#body.thread), this.dropped);
    this.edits.thread = undefined;
  }

  /** Where a model that thinks by itself is not made to call a tool unless it is told not to think. */
  unthink({ thinking: { types } }: ClaudeFacts): void {
    const { thinking, tools } = this.#body;
    const isDemanded = demandsCall(this.#body) && (arrayOf(tools) ?? []).length > 0;
    if (!isDemanded || !isOf(types, 'disabled')) return;
    if (objectOf(thinking)?.type === 'disabled') return;
    if (thinking !== undefined) this.dropped.push('thinking');
    this.edits.thinking = { type: 'disabled' };
    this.#body = { ...this.#body, thinking: this.edits.thinking };
  }

  think({ thinking: known, efforts }: ClaudeFacts): void {
    const thinking = objectOf(this.#body.thinking);
    const effort = stringOf(objectOf(this.#body.output_config)?.effort);
    this.#type = stringOf(thinking?.type);
    const { types, offUpTo } = known;
    const isTaken = this.#type === undefined || isOf(types, this.#type);
    const meant =
      isTaken || thinking === undefined ? undefined : this.#thinkAsTaken(thinking, types);
    let fitting = effort ?? meant;
    const isOff = this.#type === 'disabled' || this.#type === 'between_tools';
    if (isOff && effort !== undefined && offUpTo !== undefined && isAbove(effort, offUpTo))
      fitting = offUpTo;
    // A word that nobody knows is the provider's to judge.
    if (fitting !== undefined && !efforts.includes(fitting))
      fitting = efforts.length === 0 ? undefined : (nearestEffort(fitting, efforts) ?? fitting);
    if (fitting === effort) return;
    if (effort !== undefined) this.dropped.push('output_config.effort');
    const { effort: _, ...config } = objectOf(this.#body.output_config) ?? {};
    const rest: JsonObject = fitting === undefined ? config : { ...config, effort: fitting };
    this.edits.output_config = Object.keys(rest).length === 0 ? undefined : rest;
  }

  /** Another way of thinking in place of one that is refused; returns the effort that a budget stands for. */
  #thinkAsTaken(
    { type, budget_tokens, display }: JsonObject,
    types: readonly string[],
  ): string | undefined {
    if (type === 'enabled' && types.includes('adaptive')) {
      this.#tell({ type: 'adaptive', ...(display === undefined ? {} : { display }) });
      this.dropped.push('thinking.budget_tokens');
      const budget = numberOf(budget_tokens);
      return budget === undefined ? undefined : effortOfBudget(budget);
    }
    const off = type === 'disabled' ? 'between_tools' : 'disabled';
    const isOff = type === 'disabled' || type === 'between_tools';
    this.#tell(isOff && isOf(types, off) ? { type: off } : undefined);
    this.dropped.push('thinking');
    return undefined;
  }

  #tell(thinking: JsonObject | undefined): void {
    this.edits.thinking = thinking;
    this.#type = stringOf(thinking?.type);
  }

  /** Defaults are not missed. */
  unsample(): void {
    const { temperature: _warmth, top_p: _mass, top_k: _count, ...rest } = this.#body;
    encodeSampling(samplingOf(this.#body), { sampling: 'default' }, false, this.dropped);
    for (const name of ['temperature', 'top_p', 'top_k'])
      if (this.#body[name] !== undefined) this.edits[name] = undefined;
    this.#body = rest;
  }

  sample(facts: ClaudeFacts): void {
    const asked = samplingOf(this.#body);
    const type = this.#type ?? facts.thinking.default;
    const isThinking = type === 'enabled' || type === 'adaptive';
    const refused: string[] = [];
    encodeSampling(asked, facts, isThinking, refused);
    for (const name of refused) this.edits[name] = undefined;
    this.dropped.push(...refused);
  }

  choose(facts: ClaudeFacts): void {
    if (!demandsCall(this.#body) || mayDemandCall(facts, this.#type)) return;
    const { name: _, ...rest } = objectOf(this.#body.tool_choice) ?? {};
    this.edits.tool_choice = { ...rest, type: 'auto' };
    this.dropped.push('tool_choice');
  }
}

function samplingOf({ temperature, top_p, top_k }: JsonObject) {
  return {
    temperature: numberOf(temperature),
    topP: numberOf(top_p),
    topK: numberOf(top_k),
  };
}

function demandsCall({ tool_choice }: JsonObject): boolean {
  const type = objectOf(tool_choice)?.type;
  return type === 'any' || type === 'tool';
}

function isOf(types: readonly string[], type: string): boolean {
  return types.includes(type);
}
