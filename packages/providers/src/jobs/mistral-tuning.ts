/**
 * Fine-tuning jobs of Mistral: https://docs.mistral.ai/api/#tag/fine-tuning, and
 * the vendor's client 1.10, November 2026. Events and checkpoints are members of a job.
 */
import type { JsonObject } from '../contract.ts';
import { arrayOf, objectOf, stringOf } from '../json/json-access.ts';
import type { JobUse, VendorJobs } from '../vendor-jobs.ts';
import { statusIn } from '../vendor-status.ts';
import { known, listOf, one, required } from './job-documents.ts';
import {
  chosen,
  hyperparametersOf,
  optionsOf,
  refuseMethods,
  type TuningStatus,
  tuningDocument,
} from './tuning.ts';

const path = '/fine_tuning/jobs';

export const mistralTuning: VendorJobs = {
  operations: {
    async createFinetune({ body }, { facts, ask }) {
      refuseMethods(body, 'supervised');
      const asked = hyperparametersOf(body);
      const options = optionsOf(body);
      const validation = stringOf(body.validation_file);
      const job = await ask({
        method: 'POST',
        path,
        json: known({
          model: facts.model,
          training_files: [{ file_id: required(body, 'training_file'), weight: 1 }],
          validation_files: validation === undefined ? undefined : [validation],
          suffix: stringOf(body.suffix),
          auto_start: options.auto_start ?? true,
          job_type: stringOf(options.job_type) ?? 'completion',
          hyperparameters: known({
            epochs: chosen(asked, 'n_epochs'),
            training_steps: chosen(asked, 'training_steps'),
            learning_rate:
              chosen(asked, 'learning_rate') ?? chosen(asked, 'learning_rate_multiplier'),
          }),
        }),
      });
      return { document: presented(job) };
    },
    async listFinetunes({ query }, { ask }) {
      const size = Math.min(Math.max(1, Number(query.get('limit') ?? 20) || 20), 100);
      // Pages have numbers here, which `last_id` is.
      const page = Math.max(0, Number(query.get('after') ?? 0) || 0);
      const found = await ask({ method: 'GET', path: `${path}?page=${page}&page_size=${size}` });
      const jobs = (arrayOf(found.data) ?? []).map((job) => presented(objectOf(job) ?? {}));
      const hasMore = Number(found.total) > (page + 1) * size;
      const { document } = listOf(jobs, hasMore);
      return { document: hasMore ? { ...document, last_id: String(page + 1) } : document };
    },
    retrieveFinetune: async ({ id }, use) => ({ document: presented(await jobOf(id, use)) }),
    cancelFinetune: async ({ id }, { ask }) => ({
      document: presented(await ask({ method: 'POST', path: `${path}/${one(id)}/cancel` })),
    }),
    async listFinetuneEvents({ id }, use) {
      const events = (arrayOf((await jobOf(id, use)).events) ?? []).map((event, at) => {
        const { name, data, created_at } = objectOf(event) ?? {};
        return known({
          object: 'fine_tuning.job.event',
          id: `ftevent-${id}-${at}`,
          created_at: Number(created_at) || 0,
          level: stringOf(objectOf(data)?.error) === undefined ? 'info' : 'error',
          message: stringOf(objectOf(data)?.error) ?? stringOf(name) ?? '',
          type: 'message',
          data,
        });
      });
      return listOf(events, false);
    },
    async listFinetuneCheckpoints({ id }, use) {
      const points = (arrayOf((await jobOf(id, use)).checkpoints) ?? []).map((point) => {
        const { metrics, step_number, created_at } = objectOf(point) ?? {};
        const measured = objectOf(metrics) ?? {};
        return known({
          object: 'fine_tuning.job.checkpoint',
          id: `ftckpt-${id}-${step_number}`,
          created_at: Number(created_at) || 0,
          fine_tuned_model_checkpoint: '',
          fine_tuning_job_id: id,
          step_number,
          metrics: known({
            step: step_number,
            train_loss: measured.train_loss,
            valid_loss: measured.valid_loss,
            valid_mean_token_accuracy: measured.valid_mean_token_accuracy,
          }),
        });
      });
      return listOf(points, false);
    },
  },
};

function jobOf(id: string, { ask }: JobUse): Promise<JsonObject> {
  return ask({ method: 'GET', path: `${path}/${one(id)}` });
}

const states: Readonly<Record<string, TuningStatus>> = {
  QUEUED: 'queued',
  STARTED: 'running',
  VALIDATING: 'validating_files',
  VALIDATED: 'queued',
  RUNNING: 'running',
  FAILED_VALIDATION: 'failed',
  FAILED: 'failed',
  SUCCESS: 'succeeded',
  CANCELLED: 'cancelled',
  CANCELLATION_REQUESTED: 'cancelled',
};

function presented(job: JsonObject): JsonObject {
  const parameters = objectOf(job.hyperparameters) ?? {};
  const { status, providerStatus } = statusIn(states, job.status, 'running');
  const fileOf = (files: JsonObject[string] | undefined) => {
    const [first] = arrayOf(files) ?? [];
    return stringOf(first) ?? stringOf(objectOf(first)?.file_id);
  };
  return tuningDocument({
    id: stringOf(job.id) ?? '',
    model: stringOf(job.model) ?? '',
    status,
    providerStatus,
    createdAt: Number(job.created_at) || null,
    finishedAt: Number(job.modified_at) || null,
    tunedModel: stringOf(job.fine_tuned_model),
    trainingFile: fileOf(job.training_files),
    validationFile: fileOf(job.validation_files),
    suffix: stringOf(job.suffix),
    hyperparameters: {
      n_epochs: parameters.epochs ?? undefined,
      training_steps: parameters.training_steps ?? undefined,
      learning_rate: parameters.learning_rate,
    },
    trainedTokens: Number(job.trained_tokens) || undefined,
    error:
      status === 'failed' ? { code: 'failed', message: stringOf(job.status) ?? '' } : undefined,
  });
}
