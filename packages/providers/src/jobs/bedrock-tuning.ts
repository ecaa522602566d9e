/**
 * Model customization jobs of AWS Bedrock.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_CreateModelCustomizationJob.html, November 2026
 */
import { GatewayError } from '@sluice/errors';
import { regionalHost } from '../addresses/bedrock.ts';
import type { CallFacts } from '../call-facts.ts';
import type { JsonObject } from '../contract.ts';
import { objectId, placeOf } from '../files/object-uri.ts';
import { arrayOf, objectOf, stringOf } from '../json/json-access.ts';
import type { VendorJobs } from '../vendor-jobs.ts';
import { statusIn } from '../vendor-status.ts';
import {
  known,
  listOf,
  one,
  packedId,
  placeWithin,
  required,
  secondsOf,
  unpackedId,
} from './job-documents.ts';
import {
  chosen,
  hyperparametersOf,
  optionsOf,
  refuseMethods,
  type TuningStatus,
  tuningDocument,
} from './tuning.ts';

const path = '/model-customization-jobs';
const host = regionalHost('bedrock') as (facts: CallFacts) => string;

export const bedrockTuning: VendorJobs = {
  base: host,
  operations: {
    async createFinetune({ body, name }, { facts, ask, nowMs }) {
      refuseMethods(body, 'supervised');
      const options = optionsOf(body);
      const training = uriOf(required(body, 'training_file'), facts);
      const validation = stringOf(body.validation_file);
      const suffix = required(body, 'suffix');
      const output = objectOf(options.output_data_config);
      const kms = stringOf(options.custom_model_kms_key_id);
      const asked = known({
        baseModelIdentifier: facts.model,
        customModelName: suffix,
        // Names of models may have underscores in them, and those of jobs may not.
        jobName:
          stringOf(options.job_name) ?? `${suffix.replaceAll('_', '-')}-${name}`.slice(0, 63),
        roleArn: required(options, 'role_arn'),
        customizationType: stringOf(options.customization_type) ?? 'FINE_TUNING',
        hyperParameters: hyperparametersFor(body),
        trainingDataConfig: { s3Uri: training },
        validationDataConfig:
          validation === undefined
            ? undefined
            : { validators: [{ s3Uri: uriOf(validation, facts) }] },
        outputDataConfig: {
          s3Uri:
            stringOf(output?.s3Uri ?? options.output_file) ??
            `${training.slice(0, training.lastIndexOf('/') + 1)}${suffix}`,
        },
        customModelKmsKeyId: kms,
        clientRequestToken: name,
      });
      uriOf(
        stringOf(objectOf(asked.outputDataConfig)?.s3Uri) ?? '',
        facts,
        'body.output_data_config',
      );
      const { jobArn } = await ask({ method: 'POST', path, json: asked });
      if (typeof jobArn !== 'string') throw new GatewayError('upstream.invalid_response');
      return {
        document: presented({ ...asked, jobArn, creationTime: nowMs, status: 'Scheduled' }),
      };
    },
    async listFinetunes({ query }, { ask }) {
      const wanted = new URLSearchParams({ sortBy: 'CreationTime', sortOrder: 'Descending' });
      wanted.set(
        'maxResults',
        String(Math.min(Math.max(1, Number(query.get('limit') ?? 20) || 20), 100)),
      );
      // Pages are told by a token of the vendor's, which `last_id` is.
      const after = query.get('after');
      if (after !== null) wanted.set('nextToken', after);
      const page = await ask({ method: 'GET', path: `${path}?${wanted}` });
      const jobs = (arrayOf(page.modelCustomizationJobSummaries) ?? []).map((job) =>
        presented(objectOf(job) ?? {}),
      );
      const next = stringOf(page.nextToken);
      const { document } = listOf(jobs, next !== undefined);
      return { document: next === undefined ? document : { ...document, last_id: next } };
    },
    async retrieveFinetune({ id }, { ask }) {
      return { document: presented(await ask({ method: 'GET', path: `${path}/${arnOf(id)}` })) };
    },
    async cancelFinetune({ id }, { ask }) {
      await ask({ method: 'POST', path: `${path}/${arnOf(id)}/stop` });
      return { document: presented(await ask({ method: 'GET', path: `${path}/${arnOf(id)}` })) };
    },
  },
};

const prefix = 'ftjob';

function arnOf(id: string): string {
  const [arn = ''] = unpackedId(prefix, id, 1);
  if (!/^arn:[\w-]+:bedrock:/.test(arn)) throw new GatewayError('object.owner_unknown');
  return one(arn);
}

function uriOf(file: string, facts: CallFacts, field = 'body.training_file'): string {
  return placeWithin('s3', 'aws-s3-bucket', facts, file, field);
}

/** Texts of them all; Bedrock says `learningRate` to some models and `learningRateMultiplier` to others. */
function hyperparametersFor(body: JsonObject): JsonObject {
  const asked = hyperparametersOf(body);
  const text = (value: number | undefined) => (value === undefined ? undefined : String(value));
  return known({
    epochCount: text(chosen(asked, 'n_epochs')),
    batchSize: text(chosen(asked, 'batch_size')),
    learningRateMultiplier: text(chosen(asked, 'learning_rate_multiplier')),
    learningRate: text(chosen(asked, 'learning_rate')),
  });
}

const states: Readonly<Record<string, TuningStatus>> = {
  Submitted: 'queued',
  Scheduled: 'queued',
  Completed: 'succeeded',
  InProgress: 'running',
  Stopping: 'cancelled',
  Stopped: 'cancelled',
  Failed: 'failed',
};

function presented(job: JsonObject): JsonObject {
  const parameters = objectOf(job.hyperParameters) ?? {};
  const number = (name: string) =>
    parameters[name] === undefined ? undefined : Number(parameters[name]);
  const validators = arrayOf(objectOf(job.validationDataConfig)?.validators) ?? [];
  const validation = stringOf(objectOf(validators[0])?.s3Uri);
  const training = stringOf(objectOf(job.trainingDataConfig)?.s3Uri);
  const failure = stringOf(job.failureMessage);
  return tuningDocument({
    id: packedId(prefix, [stringOf(job.jobArn) ?? '']),
    model: modelOf(job),
    ...statusIn(states, job.status, 'running'),
    createdAt: secondsOf(job.creationTime),
    finishedAt: secondsOf(job.endTime ?? job.lastModifiedTime),
    tunedModel: stringOf(job.outputModelArn) ?? stringOf(job.customModelArn),
    trainingFile: training === undefined ? undefined : idOf(training),
    validationFile: validation === undefined ? undefined : idOf(validation),
    suffix: stringOf(job.outputModelName) ?? stringOf(job.customModelName),
    hyperparameters: {
      n_epochs: number('epochCount'),
      batch_size: number('batchSize'),
      learning_rate_multiplier: number('learningRateMultiplier') ?? number('learningRate'),
    },
    error: failure === undefined ? undefined : { code: 'failed', message: failure },
  });
}

/** Its name behind the ARN of a foundation model. */
function modelOf(job: JsonObject): string {
  const named = stringOf(job.baseModelArn) ?? stringOf(job.baseModelIdentifier) ?? '';
  return named.replace(/^.*foundation-model\//, '');
}

function idOf(uri: string): string {
  try {
    return objectId('s3', placeOf('s3', uri));
  } catch {
    return uri;
  }
}
