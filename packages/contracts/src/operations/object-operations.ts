import { mediaRows } from './media-rows.ts';
import {
  file,
  goingOn,
  list,
  look,
  made,
  named,
  naming,
  passed,
  remove,
  say,
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

const toolsOf = (at: 'body' | `body.${string}`) => [
  ...file(
    `${at}.tool_resources.code_interpreter.file_ids.*`,
    `${at}.tool_resources.file_search.vector_stores.*.file_ids.*`,
  ),
  ...named('vector store', `${at}.tool_resources.file_search.vector_store_ids.*`),
];
const messageOf = (at: 'body' | `body.${string}`) =>
  file(`${at}.attachments.*.file_id`, `${at}.content.*.image_file.file_id`);
const filesOfTools = toolsOf('body');

/** What `POST /v1/responses` makes and names. */
export const responseObjects: ObjectFacts = {
  stored: 'unless-declined',
  makes: [response],
  names: [
    ...named('response', 'body.previous_response_id'),
    ...named('conversation', 'body.conversation', 'body.conversation.id'),
    ...named('vector store', 'body.tools.*.vector_store_ids.*'),
    ...file(
      'body.tools.*.container.file_ids.*',
      'body.input.*.content.*.file_id',
      // What tools have answered.
      'body.input.*.output.file_id',
      'body.input.*.output.*.file_id',
    ),
  ],
};

/** What `POST /v1/chat/completions` makes where it is asked to store. */
export const completionObjects: ObjectFacts = {
  stored: 'when-asked',
  makes: [made('completion', 'chat.completion'), made('completion', 'chat.completion.chunk')],
};

const ofMessages = file(
  'body.messages.*.content.*.source.file_id',
  'body.messages.*.content.*.file_id',
  // What tools have answered.
  'body.messages.*.content.*.content.*.source.file_id',
);

/** Files that a request which is read gives to its model; one that flows through unread may name them as well. */
export const givenFiles: Readonly<Record<string, ObjectFacts['names']>> = {
  chatComplete: file('body.messages.*.content.*.file.file_id'),
  messages: ofMessages,
  messagesCountTokens: ofMessages,
};

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
const ofStore = {
  of: 'vector stores',
  objects: { names: named('vector store', 'path.vector_store_id') },
} as const;
const ofAssistant = {
  of: 'assistants',
  objects: { names: named('assistant', 'path.assistant_id') },
} as const;
const ofThread = {
  of: 'assistants',
  objects: { names: named('thread', 'path.thread_id') },
} as const;
const ofFile = { of: 'files', objects: { names: file('path.file_id') } } as const;
const ofUpload = {
  of: 'uploads',
  objects: { names: named('upload', 'path.upload_id') },
} as const;
/** Whichever way it was made, it is looked at in the one face. */
const batch = goingOn(made('batch', 'batch'), {
  every: 'BATCH_STATUS_CHECK_INTERVAL',
  look: 'GET /v1/batches/:batch_id',
  ended: ['completed', 'failed', 'expired', 'cancelled'],
  reads: '/output',
});
const ofBatch = {
  of: 'batches',
  objects: {
    names: named('batch', 'path.batch_id'),
    // What its work wrote has its owner.
    makes: [made('file', 'batch', 'output_file_id'), made('file', 'batch', 'error_file_id')],
  },
} as const;
const ofMessageBatch = {
  of: 'message batches',
  errors: 'anthropic',
  objects: { names: named('batch', 'path.batch_id') },
} as const;
const ofJob = {
  of: 'fine-tuning jobs',
  objects: {
    names: named('fine-tuning job', 'path.fine_tuning_job_id'),
    // Known when it has ended.
    makes: [made('fine-tuned model', 'fine_tuning.job', 'fine_tuned_model')],
  },
} as const;

const assistant = made('assistant', 'assistant');
const run = goingOn(made('run', 'thread.run'), {
  every: 'RESPONSE_STATUS_CHECK_INTERVAL',
  look: 'GET /v1/threads/:thread_id/runs/:run_id',
  ended: ['completed', 'failed', 'incomplete', 'cancelled', 'expired'],
});
const tuningJob = goingOn(made('fine-tuning job', 'fine_tuning.job'), {
  every: 'FINETUNE_STATUS_CHECK_INTERVAL',
  look: 'GET /v1/fine_tuning/jobs/:fine_tuning_job_id',
  ended: ['succeeded', 'failed', 'cancelled'],
});
const assistantOfRun = named('assistant', 'body.assistant_id');

/**
 * What stays at providers: stored responses and completions, conversations,
 * vector stores, assistants and threads, and the files and jobs that they name.
 * Paths and members are those of OpenAI's API reference, November 2026.
 */
export const objectRows = {
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
      names: file('body.items.*.content.*.file_id'),
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
    ...naming(ofConversation, file('body.items.*.content.*.file_id')),
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
  listVectorStores: { ...list('vector store'), of: 'vector stores', at: 'GET /v1/vector_stores' },
  createVectorStore: {
    ...write,
    of: 'vector stores',
    objects: { makes: [made('vector store', 'vector_store')], names: file('body.file_ids.*') },
    at: 'POST /v1/vector_stores',
  },
  getVectorStore: { ...look, ...ofStore, at: 'GET /v1/vector_stores/:vector_store_id' },
  modifyVectorStore: { ...write, ...ofStore, at: 'POST /v1/vector_stores/:vector_store_id' },
  deleteVectorStore: { ...remove, ...ofStore, at: 'DELETE /v1/vector_stores/:vector_store_id' },
  searchVectorStore: { ...say, ...ofStore, at: 'POST /v1/vector_stores/:vector_store_id/search' },
  listVectorStoreFiles: { ...look, ...ofStore, at: 'GET /v1/vector_stores/:vector_store_id/files' },
  createVectorStoreFile: {
    ...write,
    ...naming(ofStore, file('body.file_id')),
    at: 'POST /v1/vector_stores/:vector_store_id/files',
  },
  getVectorStoreFile: {
    ...look,
    ...ofStore,
    at: 'GET /v1/vector_stores/:vector_store_id/files/:file_id',
  },
  modifyVectorStoreFile: {
    ...write,
    ...ofStore,
    at: 'POST /v1/vector_stores/:vector_store_id/files/:file_id',
  },
  deleteVectorStoreFile: {
    ...remove,
    ...ofStore,
    at: 'DELETE /v1/vector_stores/:vector_store_id/files/:file_id',
  },
  getVectorStoreFileContent: {
    ...look,
    ...ofStore,
    at: 'GET /v1/vector_stores/:vector_store_id/files/:file_id/content',
  },
  createVectorStoreFileBatch: {
    ...write,
    ...naming(ofStore, file('body.file_ids.*', 'body.files.*.file_id')),
    at: 'POST /v1/vector_stores/:vector_store_id/file_batches',
  },
  getVectorStoreFileBatch: {
    ...look,
    ...ofStore,
    at: 'GET /v1/vector_stores/:vector_store_id/file_batches/:batch_id',
  },
  cancelVectorStoreFileBatch: {
    ...remove,
    ...ofStore,
    at: 'POST /v1/vector_stores/:vector_store_id/file_batches/:batch_id/cancel',
    takes: 'json',
  },
  listFilesInVectorStoreBatch: {
    ...look,
    ...ofStore,
    at: 'GET /v1/vector_stores/:vector_store_id/file_batches/:batch_id/files',
  },
  listAssistants: { ...list('assistant'), of: 'assistants', at: 'GET /v1/assistants' },
  createAssistant: {
    ...say,
    of: 'assistants',
    objects: { makes: [assistant], names: filesOfTools },
    at: 'POST /v1/assistants',
  },
  getAssistant: { ...look, ...ofAssistant, at: 'GET /v1/assistants/:assistant_id' },
  modifyAssistant: {
    ...say,
    // Its model may be another from here on.
    ...naming(ofAssistant, filesOfTools, [assistant]),
    at: 'POST /v1/assistants/:assistant_id',
  },
  deleteAssistant: { ...remove, ...ofAssistant, at: 'DELETE /v1/assistants/:assistant_id' },
  createThread: {
    ...say,
    of: 'assistants',
    objects: {
      makes: [made('thread', 'thread')],
      names: [...filesOfTools, ...messageOf('body.messages.*')],
    },
    at: 'POST /v1/threads',
  },
  createThreadAndRun: {
    ...say,
    of: 'assistants',
    objects: {
      makes: [run, made('thread', 'thread.run', 'thread_id'), made('thread', 'thread')],
      names: [
        ...assistantOfRun,
        ...filesOfTools,
        ...toolsOf('body.thread'),
        ...messageOf('body.thread.messages.*'),
      ],
    },
    at: 'POST /v1/threads/runs',
    bills: 'run',
  },
  getThread: { ...look, ...ofThread, at: 'GET /v1/threads/:thread_id' },
  modifyThread: {
    ...write,
    ...naming(ofThread, filesOfTools),
    at: 'POST /v1/threads/:thread_id',
  },
  deleteThread: { ...remove, ...ofThread, at: 'DELETE /v1/threads/:thread_id' },
  listMessages: { ...look, ...ofThread, at: 'GET /v1/threads/:thread_id/messages' },
  createMessage: {
    ...say,
    ...naming(ofThread, messageOf('body')),
    at: 'POST /v1/threads/:thread_id/messages',
  },
  getMessage: { ...look, ...ofThread, at: 'GET /v1/threads/:thread_id/messages/:message_id' },
  modifyMessage: { ...write, ...ofThread, at: 'POST /v1/threads/:thread_id/messages/:message_id' },
  deleteMessage: {
    ...remove,
    ...ofThread,
    at: 'DELETE /v1/threads/:thread_id/messages/:message_id',
  },
  listRuns: { ...look, ...ofThread, at: 'GET /v1/threads/:thread_id/runs' },
  createRun: {
    ...say,
    ...naming(ofThread, [...assistantOfRun, ...messageOf('body.additional_messages.*')], [run]),
    at: 'POST /v1/threads/:thread_id/runs',
    bills: 'run',
  },
  getRun: { ...look, ...ofThread, at: 'GET /v1/threads/:thread_id/runs/:run_id', bills: 'run' },
  modifyRun: { ...write, ...ofThread, at: 'POST /v1/threads/:thread_id/runs/:run_id' },
  submitToolOutputs: {
    ...say,
    ...ofThread,
    at: 'POST /v1/threads/:thread_id/runs/:run_id/submit_tool_outputs',
    bills: 'run',
  },
  cancelRun: {
    ...remove,
    ...ofThread,
    at: 'POST /v1/threads/:thread_id/runs/:run_id/cancel',
    takes: 'json',
    bills: 'run',
  },
  listRunSteps: { ...look, ...ofThread, at: 'GET /v1/threads/:thread_id/runs/:run_id/steps' },
  getRunStep: {
    ...look,
    ...ofThread,
    at: 'GET /v1/threads/:thread_id/runs/:run_id/steps/:step_id',
  },
  listFiles: { ...list('file'), of: 'files', at: 'GET /v1/files' },
  uploadFile: {
    ...write,
    of: 'files',
    takes: 'anything',
    objects: { makes: [made('file', 'file')] },
    at: 'POST /v1/files',
  },
  retrieveFile: { ...look, ...ofFile, at: 'GET /v1/files/:file_id' },
  deleteFile: { ...remove, ...ofFile, at: 'DELETE /v1/files/:file_id' },
  retrieveFileContent: { ...look, ...ofFile, at: 'GET /v1/files/:file_id/content' },
  createUpload: {
    ...write,
    of: 'uploads',
    objects: { makes: [made('upload', 'upload')] },
    at: 'POST /v1/uploads',
  },
  addUploadPart: {
    ...write,
    ...ofUpload,
    takes: 'anything',
    at: 'POST /v1/uploads/:upload_id/parts',
  },
  completeUpload: {
    ...write,
    ...naming(ofUpload, [], [made('file', 'upload', 'file.id')]),
    at: 'POST /v1/uploads/:upload_id/complete',
  },
  cancelUpload: {
    ...remove,
    ...ofUpload,
    at: 'POST /v1/uploads/:upload_id/cancel',
    takes: 'json',
  },
  listBatches: { ...list('batch'), of: 'batches', at: 'GET /v1/batches' },
  createBatch: {
    ...say,
    of: 'batches',
    objects: { makes: [batch], names: file('body.input_file_id') },
    at: 'POST /v1/batches',
  },
  retrieveBatch: { ...look, ...ofBatch, at: 'GET /v1/batches/:batch_id' },
  cancelBatch: { ...remove, ...ofBatch, at: 'POST /v1/batches/:batch_id/cancel', takes: 'json' },
  getBatchOutput: {
    ...look,
    of: 'batches',
    objects: { names: named('batch', 'path.batch_id') },
    at: 'GET /v1/batches/:batch_id/output',
  },
  listMessageBatches: {
    ...list('batch'),
    of: 'message batches',
    errors: 'anthropic',
    at: 'GET /v1/messages/batches',
  },
  createMessageBatch: {
    ...say,
    of: 'message batches',
    errors: 'anthropic',
    objects: { makes: [{ ...batch, object: 'message_batch' }] },
    at: 'POST /v1/messages/batches',
  },
  retrieveMessageBatch: { ...look, ...ofMessageBatch, at: 'GET /v1/messages/batches/:batch_id' },
  deleteMessageBatch: {
    ...remove,
    ...ofMessageBatch,
    at: 'DELETE /v1/messages/batches/:batch_id',
  },
  cancelMessageBatch: {
    ...remove,
    ...ofMessageBatch,
    at: 'POST /v1/messages/batches/:batch_id/cancel',
    takes: 'json',
  },
  getMessageBatchResults: {
    ...look,
    ...ofMessageBatch,
    at: 'GET /v1/messages/batches/:batch_id/results',
  },
  listFinetunes: {
    ...list('fine-tuning job'),
    of: 'fine-tuning jobs',
    at: 'GET /v1/fine_tuning/jobs',
  },
  createFinetune: {
    ...write,
    of: 'fine-tuning jobs',
    objects: {
      makes: [tuningJob],
      names: file('body.training_file', 'body.validation_file'),
    },
    at: 'POST /v1/fine_tuning/jobs',
  },
  retrieveFinetune: {
    ...look,
    ...ofJob,
    at: 'GET /v1/fine_tuning/jobs/:fine_tuning_job_id',
    bills: 'fine-tuning job',
  },
  listFinetuneEvents: {
    ...look,
    ...ofJob,
    at: 'GET /v1/fine_tuning/jobs/:fine_tuning_job_id/events',
  },
  listFinetuneCheckpoints: {
    ...look,
    ...ofJob,
    at: 'GET /v1/fine_tuning/jobs/:fine_tuning_job_id/checkpoints',
  },
  cancelFinetune: {
    ...remove,
    ...ofJob,
    at: 'POST /v1/fine_tuning/jobs/:fine_tuning_job_id/cancel',
    takes: 'json',
    bills: 'fine-tuning job',
  },
  pauseFinetune: {
    ...remove,
    ...ofJob,
    at: 'POST /v1/fine_tuning/jobs/:fine_tuning_job_id/pause',
    takes: 'json',
  },
  resumeFinetune: {
    ...write,
    ...ofJob,
    at: 'POST /v1/fine_tuning/jobs/:fine_tuning_job_id/resume',
  },
  ...mediaRows,
  retrieveModel: {
    ...look,
    // As the list of models.
    scopes: ['completions.write', 'virtual_keys.list', 'models.list'],
    at: 'GET /v1/models/:model*',
  },
  deleteModel: {
    ...remove,
    at: 'DELETE /v1/models/:model*',
    objects: { names: named('fine-tuned model', 'path.model') },
  },
} as const satisfies Readonly<Record<string, ObjectOperation>>;
