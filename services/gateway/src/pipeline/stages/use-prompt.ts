import { GatewayError } from '@sluice/errors';
import { isObject } from '@sluice/mcp';
import {
  findProvider,
  type JsonObject,
  type JsonValue,
  responsesRequestOf,
} from '@sluice/providers';
import type { FoundPrompt, PromptCompiler } from '../../compiled/prompt-compiler.ts';
import { expectModelCall, type ModelExchange } from '../../exchange/exchange.ts';
import { lookAgain } from '../../held/look-again.ts';
import type { NewerBundles } from '../../held/newer-bundles.ts';
import type { Stage } from '../pipeline.ts';
import { noteRequest } from './read-request.ts';
import { rendered } from './render-request.ts';

/** https://platform.openai.com/docs/api-reference/responses/create#responses-create-prompt */
const vendorsPrefix = 'pmpt_';

/**
 * A request for a response that names a prompt saved here: `prompt: {id,
 * version, variables}`. What the template makes stands before the input of the
 * request, what was saved beside it under the request's own fields. A prompt
 * that the vendor keeps (`pmpt_…`) is the vendor's to find.
 */
export function usePrompt(prompts: PromptCompiler, newer: Pick<NewerBundles, 'after'>): Stage {
  const use = (exchange: ModelExchange, json: JsonObject, asked: AskedPrompt) => {
    const { bundle, subject } = exchange;
    if (bundle === undefined) throw new Error('usePrompt runs after authenticate');
    const prompt = find(() => prompts.find(bundle, asked.reference));
    const made = rendered(prompt, asked.variables, prompts.partialsOf(bundle));
    const request = merged(asResponse(prompt, made, json), json);
    subject.prompt = prompt;
    subject.body = Buffer.from(JSON.stringify(request));
    noteRequest(exchange, request);
  };
  return (exchange, next) => {
    expectModelCall(exchange);
    const { operation, json } = exchange.subject;
    if (operation.id !== 'createModelResponse' || json?.prompt == null) return next();
    const asked = askedPrompt(json.prompt);
    if (asked === undefined) return next();
    try {
      use(exchange, json, asked);
    } catch (error) {
      return lookAgain(exchange, newer, error, () => use(exchange, json, asked)).then(next);
    }
    return next();
  };
}

interface AskedPrompt {
  readonly reference: string;
  readonly variables: JsonObject;
}

/** Undefined = it is the vendor's. */
function askedPrompt(prompt: JsonValue): AskedPrompt | undefined {
  if (!isObject(prompt)) throw invalid('body.prompt', 'must be an object with the id of a prompt');
  const { id, version, variables } = prompt;
  if (typeof id !== 'string' || id === '') throw invalid('body.prompt.id', 'must be a string');
  if (id.startsWith(vendorsPrefix)) return undefined;
  if (version != null && typeof version !== 'string')
    throw invalid('body.prompt.version', 'must be a string: a number, "latest" or a label');
  if (variables != null && !isObject(variables))
    throw invalid('body.prompt.variables', 'must be an object');
  return {
    reference: version == null ? id : `${id}@${version}`,
    variables: Object.fromEntries(
      Object.entries(variables ?? {}).map(([name, value]) => [name, textOf(name, value)]),
    ),
  };
}

/** A part that is text is its text; of others no template can say anything. */
function textOf(name: string, value: JsonValue | undefined): JsonValue {
  if (!isObject(value) || typeof value.type !== 'string' || !value.type.startsWith('input_'))
    return value ?? null;
  if (value.type === 'input_text' && typeof value.text === 'string') return value.text;
  throw invalid(`body.prompt.variables.${name.slice(0, 80)}`, 'must be text');
}

function find(look: () => FoundPrompt): FoundPrompt {
  try {
    return look();
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'prompt.not_found') throw error;
    const { message } = error;
    throw new GatewayError('prompt.not_found', { field: 'body.prompt.id', message, cause: error });
  }
}

/** What was saved, in the words of responses. */
function asResponse(prompt: FoundPrompt, made: JsonObject, json: JsonObject): JsonObject {
  const { stream: _stream, ...saved } = prompt.body;
  const { prompt: text, ...messages } = made;
  const chat = {
    ...saved,
    ...(text === undefined ? messages : { messages: [{ role: 'user', content: text }] }),
    model: json.model ?? saved.model ?? '',
  };
  const provider = findProvider('openai');
  if (provider === undefined) throw new Error('the catalogue has openai');
  const { model, ...request } = responsesRequestOf(chat, provider);
  return model === undefined || model === '' ? request : { model, ...request };
}

function merged({ instructions, ...saved }: JsonObject, json: JsonObject): JsonObject {
  const { prompt: _prompt, input, ...own } = json;
  const before = Array.isArray(saved.input) ? saved.input : [];
  // Instructions of the request go first, and take nothing from the template.
  const isDisplaced = own.instructions != null && instructions !== undefined;
  return {
    ...saved,
    ...(instructions !== undefined && { instructions }),
    ...own,
    input: [
      ...(isDisplaced ? [{ role: 'developer', content: instructions ?? '' }] : []),
      ...before,
      ...itemsOf(input),
    ],
  };
}

function itemsOf(input: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(input)) return input;
  return typeof input === 'string' ? [{ role: 'user', content: input }] : [];
}

function invalid(field: string, what: string): GatewayError {
  return new GatewayError('request.invalid_field', { field, message: `${field} ${what}.` });
}
