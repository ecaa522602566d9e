import { GatewayError } from '@sluice/errors';
import type { JsonObject, JsonValue } from '../contract.ts';
import { objectOf, stringOf } from '../json/json-access.ts';
import { known } from './job-documents.ts';

/** States of a fine-tuning job in OpenAI's words. */
export type TuningStatus =
  | 'validating_files'
  | 'queued'
  | 'running'
  | 'succeeded'
  | 'failed'
  | 'cancelled';

/** What callers know a job by; what is undefined nobody knows. */
export interface TuningFacts {
  readonly id: string;
  readonly model: string;
  readonly status: TuningStatus;
  /** In the vendor's words, where it has none in ours. */
  readonly providerStatus?: string | undefined;
  /** Unix seconds. */
  readonly createdAt: number | null;
  readonly finishedAt?: number | null;
  readonly tunedModel?: string | undefined;
  readonly trainingFile?: string | undefined;
  readonly validationFile?: string | undefined;
  readonly hyperparameters?: Readonly<Record<string, JsonValue | undefined>>;
  readonly suffix?: string | undefined;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  readonly trainedTokens?: number | undefined;
}

const over: ReadonlySet<TuningStatus> = new Set(['succeeded', 'failed', 'cancelled']);

/** OpenAI's job: https://platform.openai.com/docs/api-reference/fine-tuning/object */
export function tuningJob(facts: TuningFacts): { document: JsonObject } {
  return { document: tuningDocument(facts) };
}

export function tuningDocument(facts: TuningFacts): JsonObject {
  const { status } = facts;
  return known({
    id: facts.id,
    object: 'fine_tuning.job',
    model: facts.model,
    status,
    provider_status: facts.providerStatus,
    created_at: facts.createdAt ?? 0,
    finished_at: over.has(status) ? (facts.finishedAt ?? null) : null,
    fine_tuned_model: status === 'succeeded' ? (facts.tunedModel ?? null) : null,
    training_file: facts.trainingFile ?? '',
    validation_file: facts.validationFile ?? null,
    hyperparameters: known(facts.hyperparameters ?? {}),
    trained_tokens: facts.trainedTokens ?? null,
    error: facts.error === undefined ? null : { ...facts.error, param: null },
    result_files: [],
    organization_id: '',
    seed: 0,
    user_provided_suffix: facts.suffix,
  });
}

/** As callers write them: beside the method, or within the one that it names. */
export function hyperparametersOf(body: JsonObject): JsonObject {
  const direct = objectOf(body.hyperparameters);
  if (direct !== undefined) return direct;
  const method = objectOf(body.method);
  const type = stringOf(method?.type) ?? 'supervised';
  return objectOf(objectOf(method?.[type])?.hyperparameters) ?? {};
}

/** A number that the caller chose; `auto` is the vendor's default. @throws GatewayError `request.invalid_field` */
export function chosen(parameters: JsonObject, name: string): number | undefined {
  const value = parameters[name];
  if (value === undefined || value === null || value === 'auto') return undefined;
  const number = Number(value);
  if (Number.isFinite(number)) return number;
  throw new GatewayError('request.invalid_field', {
    field: `body.hyperparameters.${name}`,
    message: `body.hyperparameters.${name} must be a number, or auto.`,
  });
}

/** Methods other than the one that all vendors have. @throws GatewayError `request.invalid_field` */
export function refuseMethods(body: JsonObject, ...taken: string[]): void {
  const type = stringOf(objectOf(body.method)?.type);
  if (type === undefined || taken.includes(type)) return;
  throw new GatewayError('request.invalid_field', {
    field: 'body.method.type',
    message: `This provider takes jobs of the method ${taken.join(', ')}.`,
  });
}

/** What the body has for this vendor alone; what is nested wins. */
export function optionsOf(body: JsonObject): JsonObject {
  return { ...body, ...objectOf(body.provider_options) };
}
