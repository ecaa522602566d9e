import type { Endpoint } from '@sluice/contracts';
import type { CallFacts } from '../call-facts.ts';
import { toolsInForce } from '../codecs/anthropic-messages/conversation-changes.ts';
import type { EndpointChoice, EndpointEntry, JsonObject } from '../contract.ts';
import { arrayOf, objectOf, stringOf } from '../json/json-access.ts';
import { factsOfOpenAi, type OpenAiFacts } from '../models/openai.ts';

export interface ChatOrResponsesParts {
  chat: EndpointEntry;
  /** What the model is, where the name it is asked by does not say so: a deployment's model. */
  modelOf?: (facts: CallFacts) => string;
  /** False where the responses cannot be had, e.g. by an old version of the API. */
  hasResponses?: (facts: CallFacts) => boolean;
  /** The host refuses functions beside the effort `none` as beside any other. */
  refusesNone?: boolean;
}

/**
 * Chat completions, save for what OpenAI serves at `/responses` alone: models
 * that are nowhere else, functions beside reasoning, and files by their address.
 * Those are left to the next endpoint that can stand in, which is responses.
 */
export function chatOrResponses(parts: ChatOrResponsesParts): EndpointChoice {
  const { chat, hasResponses = always } = parts;
  return {
    all: [chat],
    choose: (facts, asked) =>
      needsResponses(facts, asked, parts) && hasResponses(facts) ? undefined : chat,
  };
}

const always = (): boolean => true;

export function needsResponses(
  facts: CallFacts,
  asked: Endpoint,
  { modelOf, refusesNone = false }: Pick<ChatOrResponsesParts, 'modelOf' | 'refusesNone'>,
): boolean {
  const model = factsOfOpenAi(modelOf?.(facts) ?? facts.model, facts.modelOverrides);
  if (model === undefined || !model.endpoints.includes('responses')) return false;
  if (!model.endpoints.includes('chat')) return true;
  const { request = {} } = facts;
  if (isToolsBesideReasoning(model, request, asked, refusesNone)) return true;
  return asked === 'messages' && hasDocumentByUrl(request);
}

function isToolsBesideReasoning(
  { toolsAt, toolsWithReasoningAt = toolsAt, effortDefault }: OpenAiFacts,
  request: JsonObject,
  asked: Endpoint,
  refusesNone: boolean,
): boolean {
  if (toolsWithReasoningAt === undefined || toolsWithReasoningAt.includes('chat')) return false;
  // What has to be translated anyway is served best where everything is taken.
  if (asked !== 'chatComplete') return (toolsInForce(request, []) ?? []).length > 0;
  const tools = arrayOf(request.tools) ?? [];
  // Custom tools are taken, and would be lost on the way.
  if (!tools.some((tool) => objectOf(tool)?.type === 'function')) return false;
  if (toolsAt?.includes('chat') === false) return true;
  const effort = stringOf(request.reasoning_effort);
  return (effort ?? effortDefault) !== 'none' || (refusesNone && effort !== undefined);
}

/** `/chat/completions` takes files by their bytes alone. */
function hasDocumentByUrl({ messages }: JsonObject): boolean {
  for (const message of arrayOf(messages) ?? [])
    for (const block of arrayOf(objectOf(message)?.content) ?? []) {
      const document = objectOf(block);
      if (document?.type === 'document' && objectOf(document.source)?.type === 'url') return true;
    }
  return false;
}
