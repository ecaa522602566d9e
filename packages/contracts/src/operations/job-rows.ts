import {
  file,
  goingOn,
  list,
  look,
  made,
  named,
  naming,
  remove,
  rowsOf,
  say,
  write,
} from './object-row.ts';
import type { ObjectOperation } from './operation.ts';
import { batchedElsewhere, batchedMessages } from './response-rows.ts';

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

const tuningJob = goingOn(made('fine-tuning job', 'fine_tuning.job'), {
  every: 'FINETUNE_STATUS_CHECK_INTERVAL',
  look: 'GET /v1/fine_tuning/jobs/:fine_tuning_job_id',
  ended: ['succeeded', 'failed', 'cancelled'],
});
/** Files, and the jobs over them. */
export const jobRows = {
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
    objects: {
      makes: [batch],
      names: [...rowsOf('requests', 'body.input_file_id'), ...batchedMessages, ...batchedElsewhere],
    },
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
    objects: { makes: [{ ...batch, object: 'message_batch' }], names: batchedMessages },
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
      names: rowsOf('examples', 'body.training_file', 'body.validation_file'),
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
} as const satisfies Readonly<Record<string, ObjectOperation>>;
