import type { JsonObject, JsonValue, ReplyUnits } from '@sluice/contracts';
import {
  bytesOfBuffer,
  type MediaRule,
  measureRequest,
  type RequestSize,
  secondsOfSound,
} from '@sluice/engine';
import {
  askedToolUses,
  drawsTokens,
  factsOfModel,
  type ModelOverrides,
  tokensDrawn,
  withAskedImage,
} from '@sluice/providers';
import { bodyBytes, type ModelCall } from '../exchange/subject.ts';
import type { Target } from '../exchange/target.ts';
import type { EstimatedUnits, EstimatedUse } from './estimated-use.ts';
import { heardTokens, spokenTokens } from './media-use.ts';
import type { ObservedModels } from './observed-models.ts';

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
    // What nobody has read has no text that could be counted.
    if (json === undefined) {
      const outputTokens = subject.unreadBytes === undefined ? 0 : unreadOutputMax;
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
    const units = unitsOf(subject, json);
    const { audioSeconds = 0, characters = 0 } = units.least ?? {};
    const heard = heardTokens(subject, servedModel, audioSeconds);
    const made =
      drawnTokens(subject, servedModel, json) + spokenTokens(subject, servedModel, characters);
    const usual = this.#observed.usualOutputTokens(model) ?? usualOutputTokens;
    const ratio = this.#observed.inputRatio(model);
    const text = Math.min(Math.ceil(size.textTokens * ratio), bytes);
    return {
      inputTokens: text + size.mediaTokens + heard,
      outputTokens: outputMax * answers + made,
      observedOutputTokens: observed * answers + made,
      expected: {
        inputTokens: Math.ceil(text / usualExcess) + size.mediaTokens + heard,
        outputTokens: Math.min(outputMax, usual) * answers + made,
      },
      isOpen: size.isOpen,
      writesCache: size.writesCache,
      units,
    };
  }

  /** Tokens that were likely asked with, of a request in its vendor's words. */
  promptOf(asked: JsonObject, target: NamedTarget): number {
    const { entry, servedModel } = target;
    const bytes = Buffer.byteLength(JSON.stringify(asked));
    const size = measureRequest(asked, bytes, mediaRuleOf(entry.id, servedModel), true);
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
  for (const name in json) {
    // `constructor` and the like are members of the one only where they are its own.
    const before = Object.hasOwn(asked, name) ? asked[name] : undefined;
    if (json[name] !== before) bytes += jsonBytes(json[name]) - jsonBytes(before);
  }
  return Math.max(bytes, 0);
}

function jsonBytes(value: JsonValue | undefined): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}

function sizeOf(subject: ModelCall, json: JsonObject, bytes: number, rule: MediaRule): RequestSize {
  const { measured } = subject;
  if (measured?.json === json && measured.rule === rule) return measured.size;
  const size = measureRequest(json, bytes, rule, subject.operation.id === 'proxy');
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
    writesCache: undefined,
    units: always(heardSeconds === undefined ? undefined : { audioSeconds: heardSeconds }),
  };
}

function mediaRuleOf(provider: string, model: string): MediaRule {
  if (model.includes('claude') || provider === 'anthropic') return 'anthropic';
  return model.includes('gemini') || provider === 'google' ? 'gemini' : 'openai';
}

/** Fields of forms are texts. */
function imagesAsked({ n }: JsonObject): number {
  const count = Number(n);
  return count > 0 ? Math.min(Math.ceil(count), imagesMax) : 1;
}

/** More than any vendor takes. */
const imagesMax = 100;

/** OpenAI's models that draw tell what they drew in tokens, by quality and size. */
function drawnTokens({ operation }: ModelCall, model: string, json: JsonObject): number {
  const draws = operation.id === 'imageGenerate' || operation.id === 'imageEdit';
  return draws && drawsTokens(model) ? imagesAsked(json) * tokensDrawn(json) : 0;
}

/** What is used in any case, and what the provider's own tools may be used for. */
function unitsOf(subject: ModelCall, json: JsonObject): EstimatedUnits {
  const least = certainUnits(subject, json);
  const uses = subject.operation.uses === 'text' ? askedToolUses(json) : undefined;
  if (uses === undefined) return always(least);
  return {
    least,
    expected: { ...least, ...uses.expected },
    most: { ...least, ...uses.most },
  };
}

function always(units: ReplyUnits | undefined): EstimatedUnits {
  return { least: units, expected: units, most: units };
}

function certainUnits({ operation, form }: ModelCall, json: JsonObject): ReplyUnits | undefined {
  switch (operation.id) {
    case 'imageGenerate':
    case 'imageEdit':
      return withAskedImage({ units: { images: imagesAsked(json) } }, json).units;
    case 'createSpeech':
      return { characters: typeof json.input === 'string' ? json.input.length : 0 };
    case 'createTranscription':
    case 'createTranslation': {
      const files = form?.filter(({ filename }) => filename !== undefined) ?? [];
      const seconds = files.map(({ data, contentType }) =>
        secondsOfSound(bytesOfBuffer(data), contentType ?? ''),
      );
      return { audioSeconds: seconds.reduce((sum, each) => sum + each, 0) };
    }
    case 'rerank':
      return { searchUnits: 1 };
    default:
      return undefined;
  }
}
