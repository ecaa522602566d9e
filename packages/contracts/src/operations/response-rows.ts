import {
  address,
  file,
  goingOn,
  list,
  look,
  made,
  named,
  naming,
  orCommon,
  passed,
  remove,
  say,
  skill,
  write,
} from './object-row.ts';
import type { ObjectFacts, ObjectOperation } from './operation.ts';

/** A response in the background; any other has ended with its answer. */
const response = goingOn(made('response', 'response'), {
  every: 'RESPONSE_STATUS_CHECK_INTERVAL',
  look: 'GET /v1/responses/:response_id',
  ended: ['completed', 'failed', 'incomplete', 'cancelled'],
  only: 'background',
});

/** What tools are given to work with. */
const toolsOf = (at: `body.${string}`) => [
  ...named('vector store', `${at}.vector_store_ids.*`),
  ...named('container', `${at}.container`, `${at}.environment.container_id`),
  ...file(
    `${at}.container.file_ids.*`,
    `${at}.environment.file_ids.*`,
    `${at}.input_image_mask.file_id`,
  ),
  ...skill(`${at}.container.skills.*.skill_id`, `${at}.environment.skills.*.skill_id`),
];

/** What is said, what tools have answered, and tools that were found on the way. */
const itemsOf = (at: `body.${string}`) => [
  ...file(`${at}.content.*.file_id`, `${at}.output.file_id`, `${at}.output.*.file_id`),
  ...address(`${at}.content.*.image_url`, `${at}.content.*.file_url`),
  ...address(`${at}.output.image_url`, `${at}.output.*.image_url`, `${at}.output.*.file_url`),
  ...toolsOf(`${at}.tools.*`),
];

/** What `POST /v1/responses` makes and names. */
export const responseObjects: ObjectFacts = {
  stored: 'unless-declined',
  makes: [
    response,
    // Those that were made for its tools.
    made('container', 'response', 'output.*.container_id'),
    made('container', 'response', 'output.*.environment.container_id'),
  ],
  names: [
    ...named('response', 'body.previous_response_id'),
    // How much of its prompt is the same is told; it need not have been kept.
    ...orCommon('response', 'body.prompt_cache_options.comparison_response_id'),
    ...named('conversation', 'body.conversation', 'body.conversation.id'),
    ...file('body.prompt.variables.*.file_id'),
    ...toolsOf('body.tools.*'),
    ...itemsOf('body.input.*'),
  ],
};

/** The same of events: one that adds to a response (`response.inject`) names it in a way of its own. */
export const saidResponses: ObjectFacts = {
  ...responseObjects,
  names: [...(responseObjects.names ?? []), ...named('response', 'body.response_id')],
};

/** What `POST /v1/chat/completions` makes where it is asked to store, and what it names. */
export const completionObjects: ObjectFacts = {
  stored: 'when-asked',
  makes: [made('completion', 'chat.completion'), made('completion', 'chat.completion.chunk')],
  names: [
    ...file('body.messages.*.content.*.file.file_id'),
    ...address(
      'body.messages.*.content.*.image_url',
      'body.messages.*.content.*.image_url.url',
      'body.messages.*.content.*.file.file_url',
    ),
  ],
  mayFlow: true,
};

/** Of one request in Anthropic's words; of a batch there are many. */
const messagesOf = (at: 'body' | `body.${string}`) => [
  ...file(
    `${at}.messages.*.content.*.source.file_id`,
    `${at}.messages.*.content.*.file_id`,
    // A document in blocks, and what tools have answered.
    `${at}.messages.*.content.*.source.content.*.source.file_id`,
    `${at}.messages.*.content.*.content.*.source.file_id`,
    `${at}.messages.*.content.*.content.*.source.content.*.source.file_id`,
  ),
  ...address(
    `${at}.messages.*.content.*.source.url`,
    `${at}.messages.*.content.*.source.content.*.source.url`,
    `${at}.messages.*.content.*.content.*.source.url`,
    `${at}.messages.*.content.*.content.*.source.content.*.source.url`,
  ),
  ...named('container', `${at}.container`, `${at}.container.id`),
  ...skill(`${at}.container.skills.*.skill_id`),
  ...named('message', `${at}.thread.previous_message_id`),
  ...orCommon('message', `${at}.diagnostics.previous_message_id`),
  // Of a line of a batch, and at Bedrock; elsewhere it is a header.
  ...orCommon('user profile', `${at}.user_profile_id`),
];

/** What `POST /v1/messages/count_tokens` names. */
export const countedObjects: ObjectFacts = { names: messagesOf('body'), mayFlow: true };

/** What `POST /v1/messages` makes where it is asked to, and what it names. */
export const messageObjects: ObjectFacts = {
  ...countedObjects,
  stored: 'when-held',
  makes: [
    made('message', 'message'),
    made('container', 'message', 'container.id'),
    made('container', 'message_delta', 'delta.container.id'),
  ],
};

/** What the requests of a message batch name. */
export const batchedMessages = messagesOf('body.requests.*.params');
/** The same where OpenAI's face of batches has them. */
export const batchedElsewhere = messagesOf('body.provider_options.requests.*.params');

const ofResponse = {
  of: 'responses',
  objects: { names: named('response', 'path.response_id') },
} as const;
const ofConversation = {
  of: 'conversations',
  objects: { names: named('conversation', 'path.conversation_id') },
} as const;
const ofCompletion = {
  of: 'stored completions',
  objects: { names: named('completion', 'path.completion_id') },
} as const;
/** Stored responses and completions, and conversations. */
export const responseRows = {
  getModelResponse: {
    ...look,
    ...ofResponse,
    at: 'GET /v1/responses/:response_id',
    bills: 'response',
  },
  deleteModelResponse: { ...remove, ...ofResponse, at: 'DELETE /v1/responses/:response_id' },
  cancelModelResponse: {
    ...remove,
    ...ofResponse,
    at: 'POST /v1/responses/:response_id/cancel',
    takes: 'json',
    bills: 'response',
  },
  listResponseInputItems: {
    ...look,
    ...ofResponse,
    at: 'GET /v1/responses/:response_id/input_items',
  },
  compactModelResponse: {
    ...say,
    of: 'responses',
    objects: { names: responseObjects.names ?? [] },
    uses: 'text',
    at: 'POST /v1/responses/compact',
  },
  countResponseInputTokens: {
    ...passed,
    of: 'responses',
    objects: { names: responseObjects.names ?? [] },
    takes: 'json',
    at: 'POST /v1/responses/input_tokens',
  },
  createConversation: {
    ...say,
    of: 'conversations',
    objects: {
      makes: [made('conversation', 'conversation')],
      names: itemsOf('body.items.*'),
    },
    at: 'POST /v1/conversations',
  },
  getConversation: { ...look, ...ofConversation, at: 'GET /v1/conversations/:conversation_id' },
  updateConversation: {
    ...write,
    ...ofConversation,
    at: 'POST /v1/conversations/:conversation_id',
  },
  deleteConversation: {
    ...remove,
    ...ofConversation,
    at: 'DELETE /v1/conversations/:conversation_id',
  },
  listConversationItems: {
    ...look,
    ...ofConversation,
    at: 'GET /v1/conversations/:conversation_id/items',
  },
  createConversationItems: {
    ...say,
    ...naming(ofConversation, itemsOf('body.items.*')),
    at: 'POST /v1/conversations/:conversation_id/items',
  },
  getConversationItem: {
    ...look,
    ...ofConversation,
    at: 'GET /v1/conversations/:conversation_id/items/:item_id',
  },
  deleteConversationItem: {
    ...remove,
    ...ofConversation,
    at: 'DELETE /v1/conversations/:conversation_id/items/:item_id',
  },
  listStoredCompletions: {
    ...list('completion'),
    of: 'stored completions',
    at: 'GET /v1/chat/completions',
  },
  getStoredCompletion: { ...look, ...ofCompletion, at: 'GET /v1/chat/completions/:completion_id' },
  updateStoredCompletion: {
    ...write,
    ...ofCompletion,
    at: 'POST /v1/chat/completions/:completion_id',
  },
  deleteStoredCompletion: {
    ...remove,
    ...ofCompletion,
    at: 'DELETE /v1/chat/completions/:completion_id',
  },
  listStoredCompletionMessages: {
    ...look,
    ...ofCompletion,
    at: 'GET /v1/chat/completions/:completion_id/messages',
  },
} as const satisfies Readonly<Record<string, ObjectOperation>>;
