import { type FindPartial, renderPrompt } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import type { JsonObject, JsonValue } from '@sluice/providers';
import {
  type FoundPrompt,
  type PromptCompiler,
  promptFault,
} from '../../compiled/prompt-compiler.ts';
import { expectModelCall } from '../../exchange/exchange.ts';
import type { Stage } from '../pipeline.ts';
import { noteRequest } from './read-request.ts';

/** Puts the request that prompt and variables make in the place of the body that was sent. */
export function renderRequest(prompts: PromptCompiler): Stage {
  return (exchange, next) => {
    expectModelCall(exchange);
    const { bundle, subject } = exchange;
    const { prompt, json } = subject;
    if (bundle === undefined || prompt === undefined || json === undefined)
      throw new Error('renderRequest runs once the prompt is found and the body is read');
    const request = requestOf(prompt, json, prompts.partialsOf(bundle));
    exchange.subject.body = Buffer.from(JSON.stringify(request));
    noteRequest(exchange, request);
    return next();
  };
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

function rendered(
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
