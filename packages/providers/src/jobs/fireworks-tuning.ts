/**
 * Supervised fine-tuning jobs of Fireworks, below an account.
 * https://docs.fireworks.ai/api-reference/create-supervised-fine-tuning-job, November 2026
 */
import { requiredSetting } from '../address.ts';
import type { CallFacts } from '../call-facts.ts';
import type { JsonObject } from '../contract.ts';
import { arrayOf, objectOf, stringOf } from '../json/json-access.ts';
import type { VendorJobs } from '../vendor-jobs.ts';
import { statusIn } from '../vendor-status.ts';
import { known, listOf, one, required, secondsOf } from './job-documents.ts';
import {
  chosen,
  hyperparametersOf,
  optionsOf,
  refuseMethods,
  type TuningStatus,
  tuningDocument,
} from './tuning.ts';

export const fireworksTuning: VendorJobs = {
  base: () => 'https://api.fireworks.ai/v1',
  operations: {
    async createFinetune({ body }, { facts, ask }) {
      refuseMethods(body, 'supervised');
      const account = accountOf(facts);
      const asked = hyperparametersOf(body);
      const options = optionsOf(body);
      const suffix = required(body, 'suffix');
      const validation = stringOf(body.validation_file);
      const own = (kind: string, name: string) =>
        name.startsWith('accounts/') ? name : `${account}/${kind}/${name}`;
      const job = await ask({
        method: 'POST',
        path: `/${account}/supervisedFineTuningJobs`,
        json: known({
          dataset: own('datasets', required(body, 'training_file')),
          evaluationDataset: validation === undefined ? undefined : own('datasets', validation),
          displayName: suffix,
          baseModel: facts.model.startsWith('accounts/')
            ? facts.model
            : `accounts/fireworks/models/${facts.model}`,
          outputModel: own('models', stringOf(options.output_model) ?? suffix),
          epochs: chosen(asked, 'n_epochs'),
          learningRate: chosen(asked, 'learning_rate') ?? chosen(asked, 'learning_rate_multiplier'),
          batchSize: chosen(asked, 'batch_size'),
          loraRank: chosen(options, 'lora_rank'),
        }),
      });
      return { document: presented(job) };
    },
    async listFinetunes({ query }, { facts, ask }) {
      const wanted = new URLSearchParams();
      wanted.set(
        'pageSize',
        String(Math.min(Math.max(1, Number(query.get('limit') ?? 20) || 20), 200)),
      );
      const after = query.get('after');
      if (after !== null) wanted.set('pageToken', after);
      const path = `/${accountOf(facts)}/supervisedFineTuningJobs?${wanted}`;
      const page = await ask({ method: 'GET', path });
      const jobs = (arrayOf(page.supervisedFineTuningJobs) ?? []).map((job) =>
        presented(objectOf(job) ?? {}),
      );
      const next = stringOf(page.nextPageToken);
      const { document } = listOf(jobs, next !== undefined && next !== '');
      // Pages are told by a token of the vendor's, which `last_id` is.
      return { document: next ? { ...document, last_id: next } : document };
    },
    async retrieveFinetune({ id }, { facts, ask }) {
      const path = `/${accountOf(facts)}/supervisedFineTuningJobs/${one(id)}`;
      return { document: presented(await ask({ method: 'GET', path })) };
    },
    async cancelFinetune({ id }, { facts, ask }) {
      // There is no cancel: a job that is deleted is stopped, and is seen no more.
      const path = `/${accountOf(facts)}/supervisedFineTuningJobs/${one(id)}`;
      const before = presented(await ask({ method: 'GET', path }));
      // What is over is told as it ended, and stays where it is.
      if (['succeeded', 'failed', 'cancelled'].includes(String(before.status)))
        return { document: before };
      await ask({ method: 'DELETE', path });
      return { document: { ...before, status: 'cancelled' } };
    },
  },
};

function accountOf({ setting }: CallFacts): string {
  return `accounts/${one(requiredSetting(setting, 'fireworks-account-id'))}`;
}

const states: Readonly<Record<string, TuningStatus>> = {
  UNSPECIFIED: 'queued',
  PENDING: 'queued',
  PAUSED: 'queued',
  CANCELLED: 'cancelled',
  // Nothing leads back from these.
  CANCELLING: 'cancelled',
  DELETING: 'cancelled',
  DELETING_CLEANING_UP: 'cancelled',
  COMPLETED: 'succeeded',
  EARLY_STOPPED: 'succeeded',
  FAILED: 'failed',
  EXPIRED: 'failed',
  CREATING: 'running',
  EVALUATION: 'running',
  RUNNING: 'running',
  WRITING_RESULTS: 'running',
  VALIDATING: 'validating_files',
};

function presented(job: JsonObject): JsonObject {
  const last = (name: string) => stringOf(job[name])?.split('/').at(-1);
  const status = objectOf(job.status);
  const told = stringOf(job.state)?.replace('JOB_STATE_', '');
  const { status: state, providerStatus } = statusIn(states, told, 'running');
  return tuningDocument({
    id: last('name') ?? '',
    model: last('baseModel') ?? '',
    status: state,
    providerStatus,
    createdAt: secondsOf(job.createTime),
    finishedAt: secondsOf(job.completedTime ?? job.updateTime),
    tunedModel: stringOf(job.outputModel),
    trainingFile: last('dataset'),
    validationFile: last('evaluationDataset'),
    suffix: stringOf(job.displayName),
    hyperparameters: {
      n_epochs: job.epochs,
      learning_rate: job.learningRate,
      batch_size: job.batchSize,
    },
    error:
      state === 'failed'
        ? { code: stringOf(status?.code) ?? 'failed', message: stringOf(status?.message) ?? '' }
        : undefined,
  });
}
