/**
 * Tuning jobs of Vertex AI.
 * https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/projects.locations.tuningJobs, November 2026
 */
import { GatewayError } from '@sluice/errors';
import { locationPath } from '../addresses/vertex-ai.ts';
import type { CallFacts } from '../call-facts.ts';
import type { JsonObject, JsonValue } from '../contract.ts';
import { objectId, placeOf } from '../files/object-uri.ts';
import { arrayOf, objectOf, stringOf } from '../json/json-access.ts';
import type { VendorJobs } from '../vendor-jobs.ts';
import { statusIn } from '../vendor-status.ts';
import { known, listOf, one, placeWithin, required, secondsOf } from './job-documents.ts';
import {
  chosen,
  hyperparametersOf,
  optionsOf,
  refuseMethods,
  type TuningStatus,
  tuningDocument,
} from './tuning.ts';

export const vertexTuning: VendorJobs = {
  operations: {
    async createFinetune({ body }, { facts, ask }) {
      refuseMethods(body, 'supervised');
      const asked = hyperparametersOf(body);
      const options = optionsOf(body);
      const validation = stringOf(body.validation_file);
      const adapter = asked.adapter_size ?? asked.adapterSize ?? options.adapter_size;
      const job = await ask({
        method: 'POST',
        path: `${locationPath(facts)}/tuningJobs`,
        json: known({
          baseModel: facts.model,
          tunedModelDisplayName: required(body, 'suffix'),
          supervisedTuningSpec: known({
            trainingDatasetUri: uriOf(required(body, 'training_file'), facts),
            validationDatasetUri: validation === undefined ? undefined : uriOf(validation, facts),
            hyperParameters: known({
              epochCount: chosen(asked, 'n_epochs'),
              learningRateMultiplier: chosen(asked, 'learning_rate_multiplier'),
              adapterSize: adapterSizeOf(adapter),
            }),
          }),
        }),
      });
      return { document: presented(job) };
    },
    async listFinetunes({ query }, { facts, ask }) {
      const wanted = new URLSearchParams();
      wanted.set(
        'pageSize',
        String(Math.min(Math.max(1, Number(query.get('limit') ?? 20) || 20), 100)),
      );
      const after = query.get('after');
      if (after !== null) wanted.set('pageToken', after);
      const page = await ask({
        method: 'GET',
        path: `${locationPath(facts)}/tuningJobs?${wanted}`,
      });
      const jobs = (arrayOf(page.tuningJobs) ?? []).map((job) => presented(objectOf(job) ?? {}));
      const next = stringOf(page.nextPageToken);
      const { document } = listOf(jobs, next !== undefined);
      // Pages are told by a token of the vendor's, which `last_id` is.
      return { document: next === undefined ? document : { ...document, last_id: next } };
    },
    async retrieveFinetune({ id }, { facts, ask }) {
      const path = `${locationPath(facts)}/tuningJobs/${one(id)}`;
      return { document: presented(await ask({ method: 'GET', path })) };
    },
    async cancelFinetune({ id }, { facts, ask }) {
      const path = `${locationPath(facts)}/tuningJobs/${one(id)}`;
      await ask({ method: 'POST', path: `${path}:cancel`, json: {} });
      return { document: presented(await ask({ method: 'GET', path })) };
    },
  },
};

const adapterSizes: Readonly<Record<number, string>> = {
  1: 'ADAPTER_SIZE_ONE',
  2: 'ADAPTER_SIZE_TWO',
  4: 'ADAPTER_SIZE_FOUR',
  8: 'ADAPTER_SIZE_EIGHT',
  16: 'ADAPTER_SIZE_SIXTEEN',
  32: 'ADAPTER_SIZE_THIRTY_TWO',
};

/** @throws GatewayError `request.invalid_field` */
function adapterSizeOf(asked: JsonValue | undefined): JsonValue | undefined {
  if (asked === undefined || asked === null) return undefined;
  const named = adapterSizes[Number(asked)] ?? asked;
  if (Object.values(adapterSizes).includes(String(named))) return named;
  throw new GatewayError('request.invalid_field', {
    field: 'body.adapter_size',
    message: `body.adapter_size must be one of ${Object.keys(adapterSizes).join(', ')}.`,
  });
}

function uriOf(file: string, facts: CallFacts): string {
  return placeWithin('gs', 'vertex-storage-bucket-name', facts, file, 'body.training_file');
}

const states: Readonly<Record<string, TuningStatus>> = {
  UNSPECIFIED: 'queued',
  PENDING: 'queued',
  QUEUED: 'queued',
  PAUSED: 'queued',
  RUNNING: 'running',
  UPDATING: 'running',
  SUCCEEDED: 'succeeded',
  PARTIALLY_SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  EXPIRED: 'failed',
  CANCELLING: 'cancelled',
  CANCELLED: 'cancelled',
};

function presented(job: JsonObject): JsonObject {
  const spec = objectOf(job.supervisedTuningSpec) ?? {};
  const parameters = objectOf(spec.hyperParameters) ?? {};
  const stats = objectOf(objectOf(job.tuningDataStats)?.supervisedTuningDataStats);
  const tokens = Number(stats?.totalBillableTokenCount ?? stats?.totalBillableCharacterCount);
  const failure = objectOf(job.error);
  const model = stringOf(job.baseModel) ?? '';
  const tuned = objectOf(job.tunedModel);
  const file = (uri: string | undefined) =>
    uri?.startsWith('gs://') === true ? objectId('gs', placeOf('gs', uri)) : uri;
  return tuningDocument({
    id: (stringOf(job.name) ?? '').split('/').at(-1) ?? '',
    model,
    ...statusIn(states, stringOf(job.state)?.replace('JOB_STATE_', ''), 'running'),
    createdAt: secondsOf(job.createTime),
    finishedAt: secondsOf(job.endTime ?? job.updateTime),
    // An endpoint is what answers; the model is what it serves.
    tunedModel: stringOf(tuned?.endpoint) ?? stringOf(tuned?.model),
    trainingFile: file(stringOf(spec.trainingDatasetUri)),
    validationFile: file(stringOf(spec.validationDatasetUri)),
    suffix: stringOf(job.tunedModelDisplayName),
    hyperparameters: {
      n_epochs: parameters.epochCount === undefined ? undefined : Number(parameters.epochCount),
      learning_rate_multiplier: parameters.learningRateMultiplier,
      adapter_size: parameters.adapterSize,
    },
    trainedTokens: Number.isFinite(tokens) && tokens > 0 ? tokens : undefined,
    error:
      failure === undefined
        ? undefined
        : { code: String(failure.code ?? 'failed'), message: stringOf(failure.message) ?? '' },
  });
}
