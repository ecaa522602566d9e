import {
  file,
  goingOn,
  list,
  look,
  made,
  named,
  naming,
  remove,
  say,
  write,
} from './object-row.ts';
import type { ObjectOperation } from './operation.ts';

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
const assistant = made('assistant', 'assistant');
const run = goingOn(made('run', 'thread.run'), {
  every: 'RESPONSE_STATUS_CHECK_INTERVAL',
  look: 'GET /v1/threads/:thread_id/runs/:run_id',
  ended: ['completed', 'failed', 'incomplete', 'cancelled', 'expired'],
});
const assistantOfRun = named('assistant', 'body.assistant_id');

/** Vector stores, assistants and threads. */
export const assistantRows = {
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
} as const satisfies Readonly<Record<string, ObjectOperation>>;
