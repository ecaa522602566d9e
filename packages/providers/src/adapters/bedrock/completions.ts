/**
 * Text completions through InvokeModel: OpenAI's format ↔ the prompt formats of
 * models from before conversations. What a family lacks is told as dropped.
 */
import type { JsonObject, JsonValue } from '@sluice/contracts';
import { shownUsage } from '../../bills/shown-usage.ts';
import { usageOf } from '../../codecs/bedrock-invoke/facts.ts';
import { ownAnswerId } from '../../codecs/own-answer-id.ts';
import type { BodyDialect, CallContext, ReplyHead } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, numberOf, objectOf, parseObject, stringOf } from '../../json/json-access.ts';
import { droppedBeside } from './dropped-fields.ts';

/** What a family makes of an answer. */
interface Answer {
  choices: { text: string; raw: string | undefined }[];
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
}

/** A family as data: where each field of OpenAI's goes (dots nest), and how an answer is read. */
interface PromptFamily {
  prompt: string;
  fields: Readonly<Record<string, string>>;
  /** Fields of the family that callers may send by their own names. */
  own?: readonly string[];
  read(body: JsonObject): Answer | undefined;
}

const finishReasons: ReadonlyMap<string, string> = new Map(
  Object.entries({
    LENGTH: 'length',
    length: 'length',
    MAX_TOKENS: 'length',
    max_tokens: 'length',
    CONTENT_FILTERED: 'content_filter',
    ERROR_TOXIC: 'content_filter',
  }),
);

function promptDialect(family: PromptFamily): BodyDialect {
  return {
    encode(body) {
      const target: JsonObject = {};
      setAt(target, family.prompt, promptOf(body));
      for (const key in family.fields) {
        const value = body[key];
        const place = family.fields[key] as string;
        if (value === undefined || value === null) continue;
        setAt(target, place, key === 'stop' && typeof value === 'string' ? [value] : value);
      }
      for (const key of family.own ?? [])
        if (body[key] !== undefined) target[key] = body[key] as JsonValue;
      const known = ['model', 'prompt', ...Object.keys(family.fields), ...(family.own ?? [])];
      return { body: target, dropped: droppedBeside(body, known) };
    },
    decode(bytes, context, head) {
      const body = parseObject(bytes.toString('utf8'));
      const answer = body === undefined ? undefined : family.read(body);
      return answer === undefined ? undefined : completionReply(answer, context, head);
    },
  };
}

/** @throws GatewayError for several prompts, and for prompts that are tokens */
function promptOf(body: JsonObject): string {
  const prompts = arrayOf(body.prompt) ?? [body.prompt as JsonValue];
  if (prompts.length > 1)
    throw invalidField('prompt', 'has several entries, and this model completes one a request');
  const [prompt] = prompts;
  if (typeof prompt !== 'string') throw invalidField('prompt', 'must be a text');
  return prompt;
}

function setAt(target: JsonObject, place: string, value: JsonValue): void {
  const [first = '', second] = place.split('.');
  if (second === undefined) target[first] = value;
  else target[first] = { ...objectOf(target[first]), [second]: value };
}

function completionReply(answer: Answer, context: CallContext, head: ReplyHead) {
  const usage = usageOf(head, { input: answer.inputTokens, output: answer.outputTokens });
  const shown = shownUsage(usage);
  const id = stringOf(head.headers['x-amzn-requestid']);
  const raw = answer.choices[0]?.raw;
  const body = {
    id: id ?? `cmpl-${context.provider.id}-${ownAnswerId(context)}`,
    object: 'text_completion',
    created: Math.floor(context.nowMs / 1000),
    model: context.model,
    provider: context.provider.id,
    choices: answer.choices.map((choice, index) => ({
      text: choice.text,
      index,
      logprobs: null,
      finish_reason: reasonOf(choice.raw, context.strictOpenAiCompliance),
    })),
    usage: {
      prompt_tokens: shown.inputTokens,
      completion_tokens: shown.outputTokens,
      total_tokens: shown.inputTokens + shown.outputTokens,
    },
  };
  const facts = {
    model: context.model,
    usage,
    ...(raw === undefined ? {} : { finishReason: raw }),
  };
  return { body: Buffer.from(JSON.stringify(body)), facts };
}

/** Strict: the standard's words. Otherwise the provider's own, so that nothing is hidden. */
function reasonOf(raw: string | undefined, isStrict: boolean): string {
  if (raw === undefined) return 'stop';
  return isStrict ? (finishReasons.get(raw) ?? 'stop') : raw;
}

function textsOf(
  list: JsonValue | undefined,
  text: (item: JsonObject) => unknown,
  raw: (item: JsonObject) => unknown,
): Answer['choices'] | undefined {
  const choices = (arrayOf(list) ?? []).flatMap((value) => {
    const item = objectOf(value) ?? {};
    const found = stringOf(text(item));
    return found === undefined ? [] : [{ text: found, raw: stringOf(raw(item)) }];
  });
  return choices.length === 0 ? undefined : choices;
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-text.html */
export const titan = promptDialect({
  prompt: 'inputText',
  fields: {
    max_tokens: 'textGenerationConfig.maxTokenCount',
    temperature: 'textGenerationConfig.temperature',
    top_p: 'textGenerationConfig.topP',
    stop: 'textGenerationConfig.stopSequences',
  },
  read(body) {
    const choices = textsOf(
      body.results,
      (item) => item.outputText,
      (item) => item.completionReason,
    );
    if (choices === undefined) return undefined;
    const outputTokens = (arrayOf(body.results) ?? []).reduce<number>(
      (sum, item) => sum + (numberOf(objectOf(item)?.tokenCount) ?? 0),
      0,
    );
    return { choices, inputTokens: numberOf(body.inputTextTokenCount), outputTokens };
  },
});

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-meta.html */
export const llama = promptDialect({
  prompt: 'prompt',
  fields: { max_tokens: 'max_gen_len', temperature: 'temperature', top_p: 'top_p' },
  read(body) {
    const text = stringOf(body.generation);
    if (text === undefined) return undefined;
    return {
      choices: [{ text, raw: stringOf(body.stop_reason) }],
      inputTokens: numberOf(body.prompt_token_count),
      outputTokens: numberOf(body.generation_token_count),
    };
  },
});

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-mistral-text-completion.html */
export const mistral = promptDialect({
  prompt: 'prompt',
  fields: {
    max_tokens: 'max_tokens',
    temperature: 'temperature',
    top_p: 'top_p',
    top_k: 'top_k',
    stop: 'stop',
  },
  read(body) {
    const choices = textsOf(
      body.outputs,
      (item) => item.text,
      (item) => item.stop_reason,
    );
    return choices === undefined ? undefined : { choices };
  },
});

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-cohere-command.html */
export const cohereCommand = promptDialect({
  prompt: 'prompt',
  fields: {
    max_tokens: 'max_tokens',
    temperature: 'temperature',
    top_p: 'p',
    top_k: 'k',
    n: 'num_generations',
    stop: 'stop_sequences',
    logit_bias: 'logit_bias',
  },
  own: ['return_likelihoods', 'truncate'],
  read(body) {
    const choices = textsOf(
      body.generations,
      (item) => item.text,
      (item) => item.finish_reason,
    );
    return choices === undefined ? undefined : { choices };
  },
});

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-jurassic2.html */
export const jurassic = promptDialect({
  prompt: 'prompt',
  fields: {
    max_tokens: 'maxTokens',
    temperature: 'temperature',
    top_p: 'topP',
    stop: 'stopSequences',
    n: 'numResults',
    presence_penalty: 'presencePenalty.scale',
    frequency_penalty: 'frequencyPenalty.scale',
  },
  own: ['countPenalty'],
  read(body) {
    const choices = textsOf(
      body.completions,
      (item) => objectOf(item.data)?.text,
      (item) => objectOf(item.finishReason)?.reason,
    );
    return choices === undefined ? undefined : { choices };
  },
});
