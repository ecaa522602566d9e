/**
 * Batches, fine-tunes and Veo beside a bucket of Cloud Storage, as Vertex AI judges them: members by
 * https://cloud.google.com/vertex-ai/docs/reference/rest/v1 (batchPredictionJobs, tuningJobs) and
 * https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/veo-video-generation.
 */
import { json, type RecordedRequest, refuseGemini, type TestGcs } from '@sluice/testkit';
import { z } from 'zod';
import { Refused, readBody, readQuery, refusing, type VendorPart } from './strict.ts';

const place = z.string().regex(/^gs:\/\/[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]\/.*$/);
const batchBody = z.strictObject({
  displayName: z.string().min(1).max(128),
  model: z.string().regex(/^publishers\/(?:google|anthropic|meta)\/models\/[\w.@-]+$/),
  inputConfig: z.strictObject({
    instancesFormat: z.literal('jsonl'),
    gcsSource: z.strictObject({ uris: z.array(place).length(1) }),
  }),
  outputConfig: z.strictObject({
    predictionsFormat: z.literal('jsonl'),
    gcsDestination: z.strictObject({ outputUriPrefix: place }),
  }),
  instanceConfig: z.strictObject({ excludedFields: z.array(z.string()) }).optional(),
  modelParameters: z.record(z.string(), z.unknown()).optional(),
  labels: z.record(z.string(), z.string().regex(/^[a-z0-9_-]{0,63}$/)).optional(),
});
const tuningBody = z.strictObject({
  baseModel: z.string().min(1),
  tunedModelDisplayName: z.string().min(1).max(128),
  description: z.string().optional(),
  supervisedTuningSpec: z.strictObject({
    trainingDatasetUri: place,
    validationDatasetUri: place.optional(),
    hyperParameters: z
      .strictObject({
        epochCount: z.coerce.number().int().positive().optional(),
        learningRateMultiplier: z.number().positive().optional(),
        adapterSize: z
          .enum(
            ['ONE', 'TWO', 'FOUR', 'EIGHT', 'SIXTEEN', 'THIRTY_TWO'].map(
              (n) => `ADAPTER_SIZE_${n}`,
            ),
          )
          .optional(),
      })
      .optional(),
    exportLastCheckpointOnly: z.boolean().optional(),
  }),
});
const image = z.union([
  z.strictObject({ bytesBase64Encoded: z.base64(), mimeType: z.enum(['image/png', 'image/jpeg']) }),
  z.strictObject({ gcsUri: place, mimeType: z.enum(['image/png', 'image/jpeg']) }),
]);
const veoBody = z.strictObject({
  instances: z
    .array(z.strictObject({ prompt: z.string().min(1), image: image.optional() }))
    .length(1),
  parameters: z.strictObject({
    aspectRatio: z.enum(['16:9', '9:16']).optional(),
    durationSeconds: z.int().optional(),
    enhancePrompt: z.boolean().optional(),
    generateAudio: z.boolean().optional(),
    negativePrompt: z.string().optional(),
    personGeneration: z.enum(['allow_adult', 'dont_allow', 'allow_all']).optional(),
    resolution: z.enum(['720p', '1080p', '4k']).optional(),
    sampleCount: z.int().min(1).max(4).optional(),
    seed: z.int().optional(),
    storageUri: place.optional(),
    compressionQuality: z.enum(['optimized', 'lossless']).optional(),
    resizeMode: z.enum(['crop', 'pad']).optional(),
  }),
});
type Job = Record<string, unknown> & { name: string; state: string };

export function vertexJobs(gcs: () => TestGcs, region = 'us-central1') {
  const batches = new Map<string, Job & z.infer<typeof batchBody>>();
  const tunings = new Map<string, Job & z.infer<typeof tuningBody>>();
  const videos = new Map<
    string,
    { looks: number; prompt: string; storageUri?: string | undefined }
  >();
  const refusals: string[] = [];
  const location = `projects/project/locations/${region}`;
  const refuse = (message: string, code = 400, status = 'INVALID_ARGUMENT') =>
    new Refused(code, { error: { code, message, status } });
  const missing = (what: string) => refuse(`${what} is not found`, 404, 'NOT_FOUND');
  const objectAt = (uri: string) => {
    const { bucket, objects } = gcs();
    const key = uri.startsWith(`gs://${bucket}/`) ? uri.slice(`gs://${bucket}/`.length) : undefined;
    if (key === undefined) throw refuse(`${uri}: not accessible`, 403, 'PERMISSION_DENIED');
    return { key, object: objects.get(key) };
  };
  const now = () => new Date().toISOString();
  const paged = (path: string) => readQuery(path, ['pageSize', 'pageToken', 'filter'], refuse);

  const part: VendorPart = (request) => {
    const { method, path, headers } = request;
    const pathname = path.split('?')[0] ?? '';
    if (!pathname.startsWith('/v1/')) return undefined;
    if (headers.authorization !== `Bearer ${gcs().token}`)
      throw refuse('Request had invalid authentication credentials.', 401, 'UNAUTHENTICATED');
    if (headers['x-goog-api-key'] !== undefined) throw refuse('two credentials');
    if (!pathname.startsWith(`/v1/${location}/`)) throw missing(pathname);
    const [kind = '', named = '', ...rest] = pathname.slice(`/v1/${location}/`.length).split('/');
    const [id = '', verb] = named.split(':');
    if (kind === 'publishers') return ofVideos(request, [named, ...rest].join('/'));
    if (rest.length > 0) throw missing(pathname);
    const known =
      kind === 'batchPredictionJobs' ? batches : kind === 'tuningJobs' ? tunings : undefined;
    if (known === undefined) throw missing(pathname);
    if (named === '' && method === 'GET') {
      paged(path);
      return json(200, { [kind]: [...known.values()].toReversed() });
    }
    if (named === '' && method === 'POST')
      return kind === 'tuningJobs' ? makeTuning(request) : makeBatch(request);
    if (!/^\d+$/.test(id)) throw refuse(`${id} is no number of a job`);
    const job = known.get(id);
    if (job === undefined) throw missing(`${location}/${kind}/${id}`);
    if (method === 'POST' && verb === 'cancel') {
      if (request.body.length > 0 && request.body.toString() !== '{}') throw refuse('Unknown name');
      job.state = 'JOB_STATE_CANCELLING';
      return json(200, {});
    }
    if (method !== 'GET' || verb !== undefined) throw missing(pathname);
    if (known === batches) goOn(job as Job & z.infer<typeof batchBody>);
    else if (job.state === 'JOB_STATE_PENDING') job.state = 'JOB_STATE_RUNNING';
    else if (job.state === 'JOB_STATE_CANCELLING') job.state = 'JOB_STATE_CANCELLED';
    return json(200, job);
  };

  function makeBatch(request: RecordedRequest) {
    const asked = readBody(request, batchBody, refuse);
    const [input = ''] = asked.inputConfig.gcsSource.uris;
    if (objectAt(input).object === undefined) throw refuse(`${input} does not exist`);
    objectAt(asked.outputConfig.gcsDestination.outputUriPrefix);
    const id = String(4711 + batches.size);
    const name = `${location}/batchPredictionJobs/${id}`;
    const job = {
      ...asked,
      name,
      state: 'JOB_STATE_PENDING',
      createTime: now(),
      updateTime: now(),
    };
    batches.set(id, job);
    return json(200, job);
  }

  function goOn(job: Job & z.infer<typeof batchBody>): void {
    if (job.state === 'JOB_STATE_PENDING') job.state = 'JOB_STATE_RUNNING';
    else if (job.state === 'JOB_STATE_CANCELLING')
      Object.assign(job, { state: 'JOB_STATE_CANCELLED', endTime: now() });
    else if (job.state === 'JOB_STATE_RUNNING') {
      const { object } = objectAt(job.inputConfig.gcsSource.uris[0] ?? '');
      const isGoogle = job.model.startsWith('publishers/google/');
      const excluded = job.instanceConfig?.excludedFields ?? [];
      const rows = (object?.content.toString().trim().split('\n') ?? []).map((row) =>
        answered(JSON.parse(row), job.model, excluded),
      );
      const { outputUriPrefix } = job.outputConfig.gcsDestination;
      const folder = `${outputUriPrefix.replace(/\/$/, '')}/prediction-model-2026-11-23T10:00:00.000000Z`;
      const name = isGoogle ? 'predictions.jsonl' : '000000000000.jsonl';
      gcs().objects.set(objectAt(`${folder}/${name}`).key, {
        content: Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n')),
        type: 'application/octet-stream',
      });
      const failed = rows.filter(({ status }) => status !== '' && status !== undefined).length;
      Object.assign(job, {
        state: 'JOB_STATE_SUCCEEDED',
        endTime: now(),
        outputInfo: { gcsOutputDirectory: folder },
        completionStats: {
          successfulCount: String(rows.length - failed),
          ...(failed > 0 && { failedCount: String(failed) }),
        },
      });
    }
  }

  function makeTuning(request: RecordedRequest) {
    const asked = readBody(request, tuningBody, refuse);
    const { trainingDatasetUri: training, validationDatasetUri: validation } =
      asked.supervisedTuningSpec;
    for (const uri of [training, validation])
      if (uri !== undefined && objectAt(uri).object === undefined)
        throw refuse(`${uri} does not exist`);
    const id = String(8_000 + tunings.size);
    const name = `${location}/tuningJobs/${id}`;
    const job = {
      ...asked,
      name,
      state: 'JOB_STATE_PENDING',
      createTime: now(),
      updateTime: now(),
    };
    tunings.set(id, job);
    return json(200, job);
  }

  function ofVideos(request: RecordedRequest, path: string) {
    const [, model = '', verb = ''] = /^google\/models\/(veo-[\w.-]+):(\w+)$/.exec(path) ?? [];
    if (request.method !== 'POST') throw missing(path);
    const named = `${location}/publishers/google/models/${model}`;
    if (verb === 'predictLongRunning') {
      const { instances, parameters } = readBody(request, veoBody, refuse);
      // https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/veo-video-generation#parameter_list
      const lengths = model.startsWith('veo-2') ? [5, 6, 7, 8] : [4, 6, 8];
      if (!lengths.includes(parameters.durationSeconds ?? 8))
        throw refuse(`durationSeconds must be one of ${lengths}`);
      if (model.startsWith('veo-2') && parameters.resolution !== undefined)
        throw refuse('resolution is not supported by this model');
      if (parameters.storageUri !== undefined) objectAt(parameters.storageUri);
      const id = `op-${videos.size + 1}`;
      const prompt = instances[0]?.prompt ?? '';
      videos.set(id, { looks: 0, prompt, storageUri: parameters.storageUri });
      return json(200, { name: `${named}/operations/${id}` });
    }
    if (verb !== 'fetchPredictOperation') throw missing(path);
    const { operationName } = readBody(
      request,
      z.strictObject({ operationName: z.string() }),
      refuse,
    );
    const id = operationName.split('/').at(-1) ?? '';
    const video = videos.get(id);
    if (operationName !== `${named}/operations/${id}` || video === undefined)
      throw missing(operationName);
    if (++video.looks < 2) return json(200, { name: operationName });
    return json(200, { name: operationName, done: true, ...cameTo(video) });
  }

  return {
    part: refusing(part, refusals),
    refusals,
    region,
    /** Ends a fine-tune as time does. */
    endTuning(displayName: string, how: object = {}): void {
      const job = [...tunings.values()].find(
        ({ tunedModelDisplayName }) => tunedModelDisplayName === displayName,
      );
      if (job === undefined) throw new Error(`no job of ${displayName}`);
      Object.assign(job, {
        state: 'JOB_STATE_SUCCEEDED',
        endTime: now(),
        tunedModel: { model: `${location}/models/9@1`, endpoint: `${location}/endpoints/9` },
        tuningDataStats: { supervisedTuningDataStats: { totalBillableTokenCount: '5768' } },
        ...how,
      });
    },
  };
}

const video = Buffer.from('mp4 bytes of Veo');

function cameTo({ prompt, storageUri }: { prompt: string; storageUri?: string | undefined }) {
  if (prompt.includes('crash')) return { error: { code: 13, message: 'Internal error' } };
  const made = storageUri
    ? { gcsUri: `${storageUri}/1/sample_0.mp4` }
    : { bytesBase64Encoded: video.toString('base64') };
  return {
    response: {
      '@type': 'type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse',
      ...(prompt.includes('unfit')
        ? { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['The prompt is unfit.'] }
        : { raiMediaFilteredCount: 0, videos: [{ ...made, mimeType: 'video/mp4' }] }),
    },
  };
}

/** A row of results: what was left out of the question stands beside the answer. */
function answered(
  row: Record<string, unknown>,
  model: string,
  excluded: readonly string[],
): Record<string, unknown> {
  const beside = Object.fromEntries(
    Object.entries(row).filter(([name]) => excluded.includes(name)),
  );
  if (!model.startsWith('publishers/google/')) {
    const { custom_id, request } = z
      .strictObject({
        custom_id: z.string(),
        request: z.looseObject({
          anthropic_version: z.literal('vertex-2023-10-16'),
          max_tokens: z.int(),
        }),
      })
      .parse(row);
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: model.split('/').at(-1),
      content: [{ type: 'text', text: 'Hi there' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1000, output_tokens: 500 },
    };
    return { custom_id, request, response: message, status: '' };
  }
  const asked = Object.fromEntries(
    Object.entries(row).filter(([name]) => !excluded.includes(name)),
  );
  if (/embedding/.test(model)) {
    if (typeof asked.content !== 'string')
      return { ...beside, instance: asked, status: 'content is required' };
    const embeddings = {
      values: [0.5, -0.25],
      statistics: { truncated: false, token_count: 1000 },
    };
    return { ...beside, instance: asked, predictions: [{ embeddings }], status: '' };
  }
  const { request } = z.strictObject({ request: z.record(z.string(), z.unknown()) }).parse(asked);
  const fault = refuseGemini(model, request);
  if (fault !== undefined || JSON.stringify(request).includes('fail'))
    return {
      ...beside,
      request,
      response: {},
      status: `Bad Request: ${JSON.stringify(fault?.body ?? { error: { code: 400, message: 'The model refused', status: 'INVALID_ARGUMENT' } })}`,
    };
  return {
    ...beside,
    request,
    status: '',
    processed_time: '2026-11-23T10:00:01.000+00:00',
    response: {
      candidates: [
        { content: { role: 'model', parts: [{ text: 'Hi there' }] }, finishReason: 'STOP' },
      ],
      modelVersion: model.split('/').at(-1),
      usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 500, totalTokenCount: 1500 },
    },
  };
}
