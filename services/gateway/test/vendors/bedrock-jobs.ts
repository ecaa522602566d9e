/**
 * Batches and fine-tunes of Bedrock beside a bucket, as AWS judges them: names, patterns and members by
 * https://docs.aws.amazon.com/bedrock/latest/APIReference and the schemas of @aws-sdk/client-bedrock 3.1164.
 */
import {
  json,
  type RecordedRequest,
  refuseConverse,
  signatureFault,
  type TestS3,
} from '@sluice/testkit';
import { z } from 'zod';
import { Refused, readBody, readQuery, refusing, type VendorPart } from './strict.ts';

const account = '123456789012';
const uri = z.string().regex(/^s3:\/\/[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9](\/.*)?$/);
const role = z.string().regex(/^arn:aws(-[^:]+)?:iam::(\d{12})?:role\/.+$/);
const token = z
  .string()
  .max(256)
  .regex(/^[a-zA-Z0-9](-*[a-zA-Z0-9])*$/);
const batchBody = z.strictObject({
  jobName: z
    .string()
    .max(63)
    .regex(/^[a-zA-Z0-9]{1,63}(-*[a-zA-Z0-9+\-.]){0,63}$/),
  roleArn: role,
  modelId: z.string().min(1),
  modelInvocationType: z.enum(['InvokeModel', 'Converse']).default('InvokeModel'),
  clientRequestToken: token.optional(),
  timeoutDurationInHours: z.int().min(24).max(168).optional(),
  inputDataConfig: z.strictObject({
    s3InputDataConfig: z.strictObject({
      s3Uri: uri,
      s3InputFormat: z.literal('JSONL').optional(),
      s3BucketOwner: z.string().optional(),
    }),
  }),
  outputDataConfig: z.strictObject({
    s3OutputDataConfig: z.strictObject({
      s3Uri: uri,
      s3EncryptionKeyId: z.string().optional(),
      s3BucketOwner: z.string().optional(),
    }),
  }),
});
const s3Place = z.strictObject({ s3Uri: uri });
const tuningBody = z.strictObject({
  jobName: z
    .string()
    .max(63)
    .regex(/^[a-zA-Z0-9](-*[a-zA-Z0-9+\-.])*$/),
  customModelName: z.string().regex(/^([0-9a-zA-Z][_-]?){1,63}$/),
  roleArn: role,
  baseModelIdentifier: z.string().min(1),
  clientRequestToken: token.optional(),
  customizationType: z.enum(['FINE_TUNING', 'CONTINUED_PRE_TRAINING', 'DISTILLATION']).optional(),
  customModelKmsKeyId: z.string().optional(),
  trainingDataConfig: s3Place,
  validationDataConfig: z.strictObject({ validators: z.array(s3Place).max(10) }).optional(),
  outputDataConfig: s3Place,
  hyperParameters: z.record(z.string(), z.string()).optional(),
});
type Job = Record<string, unknown> & { jobArn: string; status: string };

export function bedrockJobs(s3: () => TestS3) {
  const batches = new Map<string, Job & z.infer<typeof batchBody>>();
  const tunings = new Map<string, Job & z.infer<typeof tuningBody>>();
  const refusals: string[] = [];
  const refuse = (message: string, status = 400, type = 'ValidationException') =>
    new Refused(status, { message }, { 'x-amzn-errortype': type });
  const missing = (what: string) => refuse(what, 404, 'ResourceNotFoundException');
  const placeIn = (place: string) => {
    const { bucket } = s3();
    if (!place.startsWith(`s3://${bucket}/`)) throw refuse(`Could not access ${place}`);
    return place.slice(`s3://${bucket}/`.length);
  };
  const now = () => new Date().toISOString();

  const part: VendorPart = (request) => {
    const { method, path, headers, body } = request;
    const [root = '', id, verb, ...more] = path.split('?')[0]?.split('/').slice(1) ?? [];
    if (!/^model-(?:invocation-jobs?|customization-jobs)$/.test(root)) return undefined;
    const fault = signatureFault(
      { method, target: path, headers: headers as Record<string, string>, body },
      s3(),
      Date.now(),
      'bedrock',
    );
    if (fault !== undefined) throw refuse(fault, 403, 'InvalidSignatureException');
    if (more.length > 0) throw missing(path);
    if (root === 'model-invocation-jobs' && method === 'GET' && id === undefined) {
      readQuery(path, pageQuery, refuse);
      return json(200, { invocationJobSummaries: [...batches.values()].toReversed() });
    }
    if (root === 'model-invocation-job') return ofBatches(request, id, verb);
    if (root === 'model-customization-jobs') return ofTunings(request, id, verb);
    throw missing(path);
  };

  function ofBatches(request: RecordedRequest, id: string | undefined, verb: string | undefined) {
    const { method } = request;
    if (method === 'POST' && id === undefined) {
      const asked = readBody(request, batchBody, refuse);
      const key = placeIn(asked.inputDataConfig.s3InputDataConfig.s3Uri);
      placeIn(asked.outputDataConfig.s3OutputDataConfig.s3Uri);
      if (!s3().objects.has(key)) throw refuse('The input does not exist, or is a folder');
      const made = `job${String(batches.size + 1).padStart(9, '0')}`;
      const jobArn = `arn:aws:bedrock:${s3().region}:${account}:model-invocation-job/${made}`;
      batches.set(made, { ...asked, jobArn, status: 'Submitted', submitTime: now() });
      return json(200, { jobArn });
    }
    const name = decodeURIComponent(id ?? '');
    if (!/^(?:arn:aws:bedrock:[a-z0-9-]+:\d{12}:model-invocation-job\/)?[a-z0-9]{12}$/.test(name))
      throw refuse(`jobIdentifier ${name}`);
    const job = batches.get(name.slice(-12));
    if (job === undefined) throw missing(name);
    if (method === 'POST' && verb === 'stop') {
      if (!['Submitted', 'Validating', 'Scheduled', 'InProgress'].includes(job.status))
        throw refuse(`The job is ${job.status}`, 409, 'ConflictException');
      job.status = 'Stopping';
      return json(200, {});
    }
    if (method !== 'GET' || verb !== undefined) throw missing(request.path);
    goOn(job);
    return json(200, job);
  }

  /** A look at it lets time go by. */
  function goOn(job: Job & z.infer<typeof batchBody>): void {
    if (job.status === 'Submitted') job.status = 'InProgress';
    else if (job.status === 'Stopping') Object.assign(job, { status: 'Stopped', endTime: now() });
    else if (job.status === 'InProgress') {
      const key = placeIn(job.inputDataConfig.s3InputDataConfig.s3Uri);
      const rows = (s3().objects.get(key)?.toString().trim().split('\n') ?? []).map((row) =>
        answered(JSON.parse(row), job),
      );
      const failed = rows.filter(({ error }) => error !== undefined).length;
      const folder = placeIn(job.outputDataConfig.s3OutputDataConfig.s3Uri).replace(/\/?$/, '/');
      const name = `${folder.replace(/^\//, '')}${job.jobArn.slice(-12)}/${key.split('/').at(-1)}.out`;
      s3().objects.set(name, Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n')));
      Object.assign(job, {
        status: failed === 0 ? 'Completed' : 'PartiallyCompleted',
        endTime: now(),
        totalRecordCount: rows.length,
        processedRecordCount: rows.length,
        successRecordCount: rows.length - failed,
        errorRecordCount: failed,
      });
    }
  }

  function ofTunings(request: RecordedRequest, id: string | undefined, verb: string | undefined) {
    const { method, path } = request;
    if (method === 'GET' && id === undefined) {
      readQuery(path, pageQuery, refuse);
      const summaries = [...tunings.values()].toReversed().map((job) => ({
        jobArn: job.jobArn,
        jobName: job.jobName,
        status: job.status,
        creationTime: job.creationTime,
        baseModelArn: job.baseModelArn,
        customModelName: job.customModelName,
      }));
      return json(200, { modelCustomizationJobSummaries: summaries });
    }
    if (method === 'POST' && id === undefined) {
      const asked = readBody(request, tuningBody, refuse);
      for (const { s3Uri } of [
        asked.trainingDataConfig,
        ...(asked.validationDataConfig?.validators ?? []),
      ])
        if (!s3().objects.has(placeIn(s3Uri))) throw refuse(`Could not access ${s3Uri}`);
      placeIn(asked.outputDataConfig.s3Uri);
      for (const name of Object.keys(asked.hyperParameters ?? {}))
        if (!['epochCount', 'batchSize', 'learningRate', 'learningRateMultiplier'].includes(name))
          throw refuse(`hyperparameter ${name}`);
      const model = asked.baseModelIdentifier;
      const jobArn = `arn:aws:bedrock:${s3().region}:${account}:model-customization-job/${model}/${String(tunings.size + 1).padStart(12, 'a')}`;
      const baseModelArn = `arn:aws:bedrock:${s3().region}::foundation-model/${model}`;
      tunings.set(jobArn, {
        ...asked,
        jobArn,
        baseModelArn,
        status: 'InProgress',
        creationTime: now(),
        outputModelName: asked.customModelName,
      });
      return json(201, { jobArn });
    }
    const job = tunings.get(decodeURIComponent(id ?? ''));
    if (job === undefined) throw missing(decodeURIComponent(id ?? ''));
    if (method === 'POST' && verb === 'stop') {
      if (job.status !== 'InProgress')
        throw refuse(`The job is ${job.status}`, 409, 'ConflictException');
      job.status = 'Stopping';
      return json(200, {});
    }
    if (method !== 'GET' || verb !== undefined) throw missing(path);
    const told = { ...job };
    if (job.status === 'Stopping') job.status = 'Stopped';
    return json(200, told);
  }

  return {
    part: refusing(part, refusals),
    refusals,
    /** Ends a fine-tune as time does. */
    endTuning(jobName: string, how: object = {}): void {
      const job = [...tunings.values()].find(({ customModelName }) => customModelName === jobName);
      if (job === undefined) throw new Error(`no job of ${jobName}`);
      Object.assign(job, {
        status: 'Completed',
        endTime: now(),
        outputModelArn: `arn:aws:bedrock:${s3().region}:${account}:custom-model/${jobName}`,
        ...how,
      });
    },
  };
}

const pageQuery = ['maxResults', 'nextToken', 'sortBy', 'sortOrder', 'statusEquals'];
const rowShape = z.strictObject({
  recordId: z.string().min(1),
  modelInput: z.record(z.string(), z.unknown()),
});

/** A row of results, as the user guide of batch inference has it. */
function answered(
  row: unknown,
  { modelInvocationType, modelId }: z.infer<typeof batchBody>,
): Record<string, unknown> {
  const { recordId, modelInput } = rowShape.parse(row);
  const refused = (errorMessage: string) => ({
    recordId,
    modelInput,
    error: { errorCode: 400, errorMessage },
  });
  if (modelInvocationType === 'InvokeModel')
    return typeof modelInput.inputText === 'string'
      ? {
          recordId,
          modelInput,
          modelOutput: { embedding: [0.5, -0.25], inputTextTokenCount: 1000 },
        }
      : refused('inputText is required');
  const fault = refuseConverse(modelId, modelInput);
  if (fault !== undefined) return refused(JSON.stringify(fault.body));
  if (JSON.stringify(modelInput).includes('fail')) return refused('The model refused');
  return {
    recordId,
    modelInput,
    modelOutput: {
      output: { message: { role: 'assistant', content: [{ text: 'Hi there' }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 1000, outputTokens: 500, totalTokens: 1500 },
      metrics: { latencyMs: 10 },
    },
  };
}
