import { type FindPartial, type ResolvedTarget, renderPrompt } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import type { JsonObject, JsonValue } from '@sluice/providers';
import {
  type FoundPrompt,
  type PromptCompiler,
  promptFault,
} from '../../compiled/prompt-compiler.ts';
import { expectModelCall, type ModelExchange } from '../../exchange/exchange.ts';
import type { ModelCall } from '../../exchange/subject.ts';
import { lookAgain } from '../../held/look-again.ts';
import type { NewerBundles } from '../../held/newer-bundles.ts';
import type { Stage } from '../pipeline.ts';
import { noteRequest } from './read-request.ts';

/**
 * Puts the request that prompt and variables make in the place of the body that
 * was sent. Where targets of the config name prompts, theirs are made from the
 * same body: before anybody is asked it is known that all of them can be.
 */
export function renderRequest(prompts: PromptCompiler, newer: Pick<NewerBundles, 'after'>): Stage {
  const render = (exchange: ModelExchange, sent: JsonObject) => {
    const { bundle, subject, config } = exchange;
    if (bundle === undefined || subject.prompt === undefined)
      throw new Error('renderRequest runs once the prompt is found');
    const findPartial = prompts.partialsOf(bundle);
    const prompting = config?.compiled.prompting ?? [];
    if (prompting.length > 0) {
      const found = findAll(prompting, (reference) => prompts.find(bundle, reference));
      checkKinds(subject.prompt, prompting, found);
      exchange.subject.byPrompt = new Map(
        Array.from(found, ([reference, prompt]) => [
          reference,
          requestFor(exchange, prompt, requestOf(prompt, sent, findPartial)),
        ]),
      );
    }
    note(exchange, requestOf(subject.prompt, sent, findPartial));
  };
  return (exchange, next) => {
    expectModelCall(exchange);
    const { json } = exchange.subject;
    if (json === undefined) throw new Error('renderRequest runs once the body is read');
    try {
      render(exchange, json);
    } catch (error) {
      return lookAgain(exchange, newer, error, () => render(exchange, json)).then(next);
    }
    return next();
  };
}

function note(exchange: ModelExchange, request: JsonObject): void {
  exchange.subject.body = Buffer.from(JSON.stringify(request));
  noteRequest(exchange, request);
}

/** What is asked of a target with this prompt. */
function requestFor(exchange: ModelExchange, prompt: FoundPrompt, request: JsonObject): ModelCall {
  const asked = { ...exchange, subject: { ...exchange.subject, prompt, measured: undefined } };
  note(asked, request);
  return asked.subject;
}

/** @throws GatewayError `prompt.not_found` that names all that are not there */
function findAll(
  targets: readonly ResolvedTarget[],
  find: (reference: string) => FoundPrompt,
): Map<string, FoundPrompt> {
  const found = new Map<string, FoundPrompt>();
  const missing: ResolvedTarget[] = [];
  for (const target of targets) {
    const { promptId: reference = '' } = target;
    if (found.has(reference)) continue;
    try {
      found.set(reference, find(reference));
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'prompt.not_found') throw error;
      missing.push(target);
    }
  }
  const [first] = missing;
  if (first === undefined) return found;
  const names = [...new Set(missing.map(({ promptId = '' }) => promptId.slice(0, 80)))];
  throw new GatewayError('config.prompt_not_found', {
    field: `${first.path}.prompt_id`,
    message: `Following prompt_id are not valid: ${names.slice(0, shownMax).join(', ')}.`,
  });
}

const shownMax = 20;

/** A caller who called for a conversation cannot be answered with a text completion. */
function checkKinds(
  { template: { kind }, slug }: FoundPrompt,
  targets: readonly ResolvedTarget[],
  found: ReadonlyMap<string, FoundPrompt>,
): void {
  for (const { path, promptId = '' } of targets)
    if (found.get(promptId)?.template.kind !== kind)
      throw new GatewayError('prompt.invalid', {
        field: `${path}.prompt_id`,
        message: `${path}.prompt_id must name a prompt of the kind of "${slug}": both text, or both messages.`,
      });
}

/** The end of a request that only asks what would be sent. */
export const answerRendered: Stage = async (exchange) => {
  expectModelCall(exchange);
  return {
    kind: 'body',
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ success: true, data: exchange.subject.json })),
  };
};

/** Saved parameters under the rendered template under whatever the caller sent beside the variables. */
function requestOf(prompt: FoundPrompt, sent: JsonObject, findPartial: FindPartial): JsonObject {
  const { variables, hyperparameters, append_messages: appended, ...overrides } = sent;
  if (typeof variables !== 'object' || variables === null || Array.isArray(variables))
    throw invalid('body.variables', 'must be an object');
  if (hyperparameters !== undefined)
    throw invalid(
      'body.hyperparameters',
      'must not be sent: its fields stand beside the variables',
    );
  const request = { ...prompt.body, ...rendered(prompt, variables, findPartial), ...overrides };
  if (appended !== undefined) request.messages = withAppended(request.messages, appended);
  return request;
}

export function rendered(
  prompt: FoundPrompt,
  variables: JsonObject,
  findPartial: FindPartial,
): JsonObject {
  try {
    return renderPrompt(prompt.template, variables, findPartial) as JsonObject;
  } catch (error) {
    throw promptFault(error);
  }
}

/** The turns of a conversation after those of the prompt. */
function withAppended(messages: JsonValue | undefined, appended: JsonValue): JsonValue {
  if (!Array.isArray(appended)) throw invalid('body.append_messages', 'must be a list of messages');
  if (!Array.isArray(messages))
    throw invalid('body.append_messages', 'goes with prompts that are messages');
  return [...messages, ...appended];
}

function invalid(field: string, what: string): GatewayError {
  return new GatewayError('request.invalid_field', { field, message: `${field} ${what}.` });
}
