import type { JsonObject, JsonValue, ReplyUnits } from '@sluice/contracts';
import { type MediaRule, measureRequest, type RequestSize } from '@sluice/engine';
import { factsOfModel, type ModelOverrides } from '@sluice/providers';
import { bodyBytes, type ModelCall } from '../exchange/subject.ts';
import type { Target } from '../exchange/target.ts';
import type { ObservedModels } from './observed-models.ts';

/** What a request will use at one target, as far as can be told before it is sent. In tokens. */
export interface EstimatedUse {
  /** Seldom less than is counted, never more than the bytes that are sent and what they name. */
  readonly inputTokens: number;
  /** What the request allows. */
  readonly outputTokens: number;
  /** What answers of the model came to in 99 of 100 cases, within what the request allows. */
  readonly observedOutputTokens: number;
  /** What is likely. */
  readonly expected: { readonly inputTokens: number; readonly outputTokens: number };
  /** What is named, not sent, may count more than is estimated. */
  readonly isOpen: boolean;
  /** What is charged by other units. */
  readonly units: ReplyUnits | undefined;
}

/** Of an answer whose limit nobody has read: no model says more at once. */
const unreadOutputMax = 200_000;
/** Of an answer without a limit, where nobody knows how much the model may say. */
const outputTokensDefault = 8192;
/** What an answer without a limit is likely to be. */
const usualOutputTokens = 1000;
/** Our estimates lie that much above what is counted, in the middle. */
const usualExcess = 1.25;

/** Estimates requests; each is looked at once, whatever the number of its targets. */
export class UseEstimates {
  readonly #observed: ObservedModels;
  /** 0 = nothing is known. */
  readonly #outputMaxes = new Map<string, number>();

  readonly #overrides: ModelOverrides | undefined;

  /** @param overrides what the operator knows better of models */
  constructor(observed: ObservedModels, overrides?: ModelOverrides) {
    this.#observed = observed;
    this.#overrides = overrides;
  }

  /** @param json as the target will get it, before it is encoded in the target's format */
  of(subject: ModelCall, target: NamedTarget, json = subject.json): EstimatedUse {
    const { entry, servedModel } = target;
    // What flows through unread has no text that could be counted.
    if (json === undefined) {
      const outputTokens = subject.isUnread === true ? unreadOutputMax : 0;
      return unread(bodyBytes(subject), subject.heardSeconds, outputTokens);
    }
    const bytes = bytesOf(subject, json);
    const size = sizeOf(subject, json, bytes, mediaRuleOf(entry.id, servedModel));
    const model = modelKeyOf(target);
    const most = this.#outputMaxOf(servedModel);
    const answers = subject.operation.uses === 'text' ? size.answers : 0;
    const allowed = size.outputMax ?? most ?? outputTokensDefault;
    const outputMax = Math.min(allowed, most ?? allowed, outputTokensMax);
    const observed = Math.min(outputMax, this.#observed.outputTokens(model) ?? outputMax);
    const usual = this.#observed.usualOutputTokens(model) ?? usualOutputTokens;
    const ratio = this.#observed.inputRatio(model);
    const text = Math.min(Math.ceil(size.textTokens * ratio), bytes);
    return {
      inputTokens: text + size.mediaTokens,
      outputTokens: outputMax * answers,
      observedOutputTokens: observed * answers,
      expected: {
        inputTokens: Math.ceil(text / usualExcess) + size.mediaTokens,
        outputTokens: Math.min(outputMax, usual) * answers,
      },
      isOpen: size.isOpen,
      units: unitsOf(subject, json),
    };
  }

  /** Tokens that were likely asked with, of a request in its vendor's words. */
  promptOf(asked: JsonObject, target: NamedTarget): number {
    const { entry, servedModel } = target;
    const bytes = Buffer.byteLength(JSON.stringify(asked));
    const size = measureRequest(asked, bytes, mediaRuleOf(entry.id, servedModel));
    // Words of its own that nobody knows.
    if (size.textTokens + size.mediaTokens === 0) return Math.ceil(bytes / bytesPerToken);
    const ratio = this.#observed.inputRatio(modelKeyOf(target));
    const text = Math.min(Math.ceil(size.textTokens * ratio), bytes);
    return Math.ceil(text / usualExcess) + size.mediaTokens;
  }

  /** Of a request that was estimated: its text before the ratio of the model; undefined = it would teach nothing. */
  teaches({ json, measured }: ModelCall): number | undefined {
    if (measured === undefined || measured.json !== json) return undefined;
    const { isOpen, mediaTokens, textTokens } = measured.size;
    return isOpen || mediaTokens > 0 ? undefined : textTokens;
  }

  /** What the model can say at most. Callers name models: few are remembered. */
  #outputMaxOf(model: string): number | undefined {
    const known = this.#outputMaxes.get(model);
    if (known !== undefined) return known === 0 ? undefined : known;
    const most = factsOfModel(model, this.#overrides)?.outputTokensMax;
    if (this.#outputMaxes.size >= modelsMax) this.#outputMaxes.clear();
    this.#outputMaxes.set(model, most ?? 0);
    return most;
  }
}

/** Of the body with what a config or checks put into it, about: members that they left alone are as they came. */
function bytesOf(subject: ModelCall, json: JsonObject): number {
  let bytes = bodyBytes(subject);
  const { json: asked } = subject;
  if (asked === undefined || asked === json) return bytes;
  for (const name in json)
    if (json[name] !== asked[name]) bytes += jsonBytes(json[name]) - jsonBytes(asked[name]);
  return Math.max(bytes, 0);
}

function jsonBytes(value: JsonValue | undefined): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}

function sizeOf(subject: ModelCall, json: JsonObject, bytes: number, rule: MediaRule): RequestSize {
  const { measured } = subject;
  if (measured?.json === json && measured.rule === rule) return measured.size;
  const size = measureRequest(json, bytes, rule);
  subject.measured = { json, rule, size };
  return size;
}

export type NamedTarget = Pick<Target, 'entry' | 'servedModel' | 'customHost'>;

/** Under which what a model counted is remembered: who answers at another host teaches nothing of the provider's. */
export function modelKeyOf({ entry, servedModel, customHost }: NamedTarget): string {
  return `${entry.id}|${customHost?.url ?? ''}|${servedModel}`;
}

const modelsMax = 1000;
/** No model says more. */
const outputTokensMax = 10_000_000;

/** As text has. */
const bytesPerToken = 4;

function unread(
  bytes: number,
  heardSeconds: number | undefined,
  outputTokens: number,
): EstimatedUse {
  const inputTokens = Math.ceil(bytes / bytesPerToken);
  return {
    inputTokens,
    outputTokens,
    observedOutputTokens: outputTokens,
    expected: { inputTokens, outputTokens: 0 },
    isOpen: true,
    units: heardSeconds === undefined ? undefined : { audioSeconds: heardSeconds },
  };
}

function mediaRuleOf(provider: string, model: string): MediaRule {
  if (model.includes('claude') || provider === 'anthropic') return 'anthropic';
  return model.includes('gemini') || provider === 'google' ? 'gemini' : 'openai';
}

function unitsOf({ operation, form }: ModelCall, json: JsonObject): ReplyUnits | undefined {
  switch (operation.id) {
    case 'imageGenerate':
    case 'imageEdit':
      return { images: typeof json.n === 'number' && json.n > 0 ? Math.ceil(json.n) : 1 };
    case 'createSpeech':
      return { characters: typeof json.input === 'string' ? json.input.length : 0 };
    case 'createTranscription':
    case 'createTranslation': {
      const bytes = form?.reduce((sum, part) => sum + part.data.length, 0) ?? 0;
      // Speech is seldom sent with less than 4 kB a second.
      return { audioSeconds: bytes / 4000 };
    }
    case 'rerank':
      return { searchUnits: 1 };
    default:
      return undefined;
  }
}
