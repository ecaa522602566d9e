/**
 * What of a request a model takes in OpenAI's two formats, by what is known of
 * it. Of a model that nothing is known of everything is taken, but for the
 * efforts that only few have.
 */
import { createHash } from 'node:crypto';
import type { ChatRequest, Reasoning } from '@sluice/contracts';
import type { CallContext } from '../contract.ts';
import { factsOfModel } from '../models/facts-of-model.ts';
import type { ModelFacts } from '../models/model-facts.ts';
import { nearestEffort } from './anthropic-messages/efforts.ts';

type Format = 'chat' | 'responses';

/** Rows of makers who do not serve these formats themselves say nothing of them. */
export function factsOfAsked(request: ChatRequest, context: CallContext): ModelFacts {
  const { provider, modelOverrides } = context;
  const name = provider.modelBehind?.(context) ?? request.model;
  const facts = factsOfModel(name, modelOverrides);
  const isTold = facts?.endpoints?.some((at) => at === 'chat' || at === 'responses') === true;
  return isTold ? facts : unknown;
}

const unknown: ModelFacts = { model: '', source: '', checked: '' };

/** What nearly all who take efforts have. */
const commonEfforts: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high'];

/** The effort as the model has it; undefined where none is named. */
export function encodeEffort(
  reasoning: Reasoning | undefined,
  facts: ModelFacts,
  format: Format,
  dropped: string[],
): string | undefined {
  const asked = effortOf(reasoning, facts);
  if (asked === undefined) return undefined;
  const own = (format === 'chat' ? facts.effortsInChat : undefined) ?? facts.efforts;
  const levels = own ?? commonEfforts;
  const effort = asked === 'none' ? least(levels) : nearestEffort(asked, levels.filter(isSome));
  // An effort of none is what a model that does not reason has; a word that nobody knows is the provider's to judge.
  if (effort === undefined && levels.length > 0) return asked;
  const isMissed = asked !== 'none' || levels.length > 0;
  if (effort !== asked && asked !== 'minimal' && isMissed)
    dropped.push(reasoning?.mode === undefined ? 'reasoning_effort' : 'thinking');
  return effort;
}

function isSome(effort: string): boolean {
  return effort !== 'none';
}

function least(levels: readonly string[]): string | undefined {
  return levels.includes('none') ? 'none' : levels[0];
}

/** An effort stands for a budget where only a budget was given. */
function effortOf(reasoning: Reasoning | undefined, facts: ModelFacts): string | undefined {
  if (reasoning === undefined) return undefined;
  if (reasoning.effort !== undefined) return reasoning.effort;
  if (reasoning.mode === 'disabled') return 'none';
  if (reasoning.budgetTokens === undefined) {
    // Who leaves it to the model how much it thinks wants it to think.
    const isOn = reasoning.mode === 'adaptive' || reasoning.mode === 'enabled';
    return isOn && facts.effortDefault === 'none' ? 'medium' : undefined;
  }
  if (reasoning.budgetTokens <= 2048) return 'low';
  return reasoning.budgetTokens <= 10_000 ? 'medium' : 'high';
}

/** A way to think that only Claude has a word for. */
export function thinksBetweenToolsOnly({ reasoning }: ChatRequest): boolean {
  return reasoning?.mode === 'between_tools';
}

/** Whether the answer will have been reasoned; undefined = nobody knows. */
export function isReasoned(facts: ModelFacts, effort: string | undefined): boolean | undefined {
  if (facts.efforts === undefined) return undefined;
  return facts.efforts.length > 0 && (effort ?? facts.effortDefault) !== 'none';
}

type Sampling = Pick<
  ChatRequest,
  | 'temperature'
  | 'topP'
  | 'frequencyPenalty'
  | 'presencePenalty'
  | 'logitBias'
  | 'logprobs'
  | 'topLogprobs'
  | 'stop'
>;

/** What they are called in chat completions, and the value that is none. */
export const samplingFields: readonly [field: keyof Sampling, name: string, none?: unknown][] = [
  ['temperature', 'temperature', 1],
  ['topP', 'top_p', 1],
  ['frequencyPenalty', 'frequency_penalty', 0],
  ['presencePenalty', 'presence_penalty', 0],
  ['logitBias', 'logit_bias'],
  ['logprobs', 'logprobs', false],
  ['topLogprobs', 'top_logprobs', 0],
  ['stop', 'stop'],
];

/** Whether a model refuses to be told how to sample. */
export function isSamplingFixed(facts: ModelFacts, effort: string | undefined): boolean {
  const { sampling = 'all' } = facts;
  return sampling === 'unless-reasoning' ? isReasoned(facts, effort) === true : sampling !== 'all';
}

/** The request without what a model that reasons refuses. */
export function withTakenSampling(
  request: ChatRequest,
  facts: ModelFacts,
  effort: string | undefined,
  dropped: string[],
): ChatRequest {
  if (!isSamplingFixed(facts, effort)) return request;
  if (samplingFields.every(([field]) => request[field] === undefined)) return request;
  const kept = { ...request };
  for (const [field, name, none] of samplingFields) {
    if (kept[field] !== undefined && kept[field] !== none) dropped.push(name);
    delete kept[field];
  }
  return kept;
}

const userMax = 64;

/** Whoever asks is told apart from others, and no more: a name that is too long is as good by its digest. */
export function encodeUser(user: string | undefined): string | undefined {
  if (user === undefined || user.length <= userMax) return user;
  return createHash('sha256').update(user).digest('hex');
}
