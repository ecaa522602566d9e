/**
 * Videos of fal's queue and of Together, fine-tunes of Fireworks and embed jobs of Cohere, as these vendors judge them:
 * https://fal.ai/docs/inference-api, github.com/togethercomputer/openapi, the clients fireworks-ai 1.x and cohere 5.x.
 */
import { bytes, json, type RecordedRequest, type UpstreamReply } from '@sluice/testkit';
import { z } from 'zod';
import { Refused, readBody, readQuery, refusing, type VendorPart } from './strict.ts';

const now = () => Math.floor(Date.now() / 1000);
const nowText = () => new Date().toISOString();

const veoOfFal = z.strictObject({
  prompt: z.string().min(1),
  duration: z.enum(['4s', '6s', '8s']).optional(),
  aspect_ratio: z.enum(['16:9', '9:16', '1:1']).optional(),
  resolution: z.enum(['720p', '1080p']).optional(),
  image_url: z.url().optional(),
  generate_audio: z.boolean().optional(),
  negative_prompt: z.string().optional(),
  seed: z.int().optional(),
});

/** One model, `fal-ai/veo3/fast`, in one queue. A prompt with `unfit` in it fails. */
export function falVendor(apiKey: string, contentAt: () => string) {
  const requests = new Map<
    string,
    { looks: number; body: z.infer<typeof veoOfFal>; gone?: true }
  >();
  const refusals: string[] = [];
  const refuse = (detail: string, status = 422) => new Refused(status, { detail });
  const part: VendorPart = (request) => {
    const { method, path, headers } = request;
    if (headers.authorization !== `Key ${apiKey}`)
      throw refuse('Cannot access application. Authentication is required.', 401);
    const [pathname = ''] = path.split('?');
    if (method === 'POST' && pathname === '/fal-ai/veo3/fast') {
      const body = readBody(request, veoOfFal, refuse);
      const id = `764cabcf-b745-4b3e-ae38-${String(requests.size + 1).padStart(12, '0')}`;
      requests.set(id, { looks: 0, body });
      const at = `https://queue.fal.run/fal-ai/veo3/requests/${id}`;
      return json(200, {
        status: 'IN_QUEUE',
        request_id: id,
        queue_position: 0,
        response_url: at,
        status_url: `${at}/status`,
        cancel_url: `${at}/cancel`,
      });
    }
    const [, id = '', verb] =
      /^\/fal-ai\/veo3\/requests\/([\w-]+)(?:\/(status|cancel))?$/.exec(pathname) ?? [];
    const asked = requests.get(id);
    if (asked === undefined) throw refuse(`Request ${id} or path ${pathname} not found`, 404);
    if (verb === 'status' && method === 'GET') {
      readQuery(path, ['logs'], refuse);
      const status = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED'][Math.min(asked.looks++, 2)];
      return json(status === 'COMPLETED' ? 200 : 202, {
        status,
        request_id: id,
        ...(status === 'COMPLETED' && { logs: null, metrics: { inference_time: 1.5 } }),
      });
    }
    if (verb === 'cancel' && method === 'PUT') {
      if (asked.looks > 2) return json(400, { status: 'ALREADY_COMPLETED' });
      asked.gone = true;
      return json(202, { status: 'CANCELLATION_REQUESTED' });
    }
    if (verb !== undefined || method !== 'GET') throw refuse('Method Not Allowed', 405);
    if (asked.looks < 3) throw refuse('Request is still in progress', 400);
    // What failed has an error in the place of a result.
    if (asked.body.prompt.includes('unfit'))
      return json(422, {
        detail: [
          {
            loc: ['body', 'prompt'],
            msg: 'The prompt is unfit.',
            type: 'content_policy_violation',
          },
        ],
      });
    return json(200, { video: { url: `${contentAt()}/fal/${id}.mp4`, content_type: 'video/mp4' } });
  };
  return { part: refusing(part, refusals), refusals };
}

const frame = z.strictObject({
  input_image: z.string(),
  frame: z.union([z.number(), z.enum(['first', 'last'])]).optional(),
});
const videoOfTogether = z.strictObject({
  model: z.string().min(1),
  prompt: z.string().min(1).max(32_000).optional(),
  height: z.int().optional(),
  width: z.int().optional(),
  resolution: z.string().optional(),
  ratio: z.string().optional(),
  seconds: z.string().regex(/^\d+$/).optional(),
  fps: z.int().optional(),
  steps: z.int().min(10).max(50).optional(),
  seed: z.int().optional(),
  guidance_scale: z.int().optional(),
  output_format: z.enum(['MP4', 'WEBM']).optional(),
  output_quality: z.int().optional(),
  negative_prompt: z.string().optional(),
  generate_audio: z.boolean().optional(),
  media: z
    .strictObject({
      frame_images: z.array(frame).optional(),
      reference_images: z.array(z.string()).optional(),
    })
    .optional(),
});

/** At `/v2`, where it has videos and nothing else. */
export function togetherVendor(apiKey: string, contentAt: () => string) {
  const videos = new Map<string, Record<string, unknown>>();
  const refusals: string[] = [];
  const refuse = (message: string, status = 400) =>
    new Refused(status, {
      error: { message, type: 'invalid_request_error', param: null, code: null },
    });
  const part: VendorPart = (request) => {
    const { method, path, headers } = request;
    if (headers.authorization !== `Bearer ${apiKey}`) throw refuse('Invalid API key', 401);
    const [, id] = /^\/v2\/videos(?:\/([\w-]+))?$/.exec(path) ?? [];
    if (method === 'POST' && path === '/v2/videos') {
      const asked = readBody(request, videoOfTogether, refuse);
      const made = `019a-${videos.size + 1}`;
      const job = {
        id: made,
        object: 'video',
        model: asked.model,
        status: 'in_progress',
        created_at: now(),
        size: `${asked.width ?? 1366}x${asked.height ?? 768}`,
        seconds: asked.seconds ?? '5',
        ...(asked.prompt?.includes('unfit') && {
          status: 'failed',
          error: { message: 'The prompt is unfit.' },
        }),
      };
      videos.set(made, job);
      return json(200, job);
    }
    const job = videos.get(id ?? '');
    if (job === undefined || method !== 'GET') throw refuse(`${method} ${path}: not found`, 404);
    const told = { ...job };
    if (job.status === 'in_progress')
      Object.assign(job, {
        status: 'completed',
        completed_at: now(),
        outputs: { cost: 1, video_url: `${contentAt()}/together/${id}.mp4` },
      });
    return json(200, told);
  };
  return { part: refusing(part, refusals), refusals };
}

const tuningOfFireworks = z.strictObject({
  dataset: z.string().regex(/^accounts\/[\w-]+\/datasets\/[\w-]+$/),
  evaluationDataset: z
    .string()
    .regex(/^accounts\/[\w-]+\/datasets\/[\w-]+$/)
    .optional(),
  displayName: z.string().max(64).optional(),
  baseModel: z.string().regex(/^accounts\/[\w-]+\/models\/[\w.-]+$/),
  outputModel: z
    .string()
    .regex(/^accounts\/acme\/models\/[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/)
    .optional(),
  epochs: z.int().positive().optional(),
  learningRate: z.number().positive().optional(),
  batchSize: z.int().positive().optional(),
  loraRank: z.int().positive().optional(),
  maxContextLength: z.int().optional(),
  earlyStop: z.boolean().optional(),
});

/** Fine-tunes of the account `acme`, over datasets that `has` knows. */
export function fireworksJobs(apiKey: string, has: (dataset: string) => boolean) {
  const jobs = new Map<string, Record<string, unknown>>();
  const refusals: string[] = [];
  const refuse = (message: string, status = 400, code = 3) =>
    new Refused(status, { code, message });
  const part: VendorPart = (request) => {
    const { method, path, headers } = request;
    const [, id, query] =
      /^\/v1\/accounts\/acme\/supervisedFineTuningJobs(?:\/([\w-]+))?(?:\?(.*))?$/.exec(path) ?? [];
    if (!path.startsWith('/v1/accounts/acme/supervisedFineTuningJobs')) return undefined;
    if (headers.authorization !== `Bearer ${apiKey}`) throw refuse('unauthenticated', 401, 16);
    if (method === 'POST' && id === undefined && query === undefined) {
      const asked = readBody(request, tuningOfFireworks, refuse);
      for (const dataset of [asked.dataset, asked.evaluationDataset])
        if (dataset !== undefined && !has(dataset.split('/').at(-1) ?? ''))
          throw refuse(`${dataset} not found`, 404, 5);
      const made = `sft-${jobs.size + 1}`;
      const job = {
        ...asked,
        name: `accounts/acme/supervisedFineTuningJobs/${made}`,
        createTime: nowText(),
        state: 'JOB_STATE_CREATING',
        status: { code: 'OK', message: '' },
      };
      jobs.set(made, job);
      return json(200, job);
    }
    if (method === 'GET' && id === undefined) {
      readQuery(path, ['pageSize', 'pageToken', 'filter', 'orderBy', 'readMask'], refuse);
      return json(200, { supervisedFineTuningJobs: [...jobs.values()], totalSize: jobs.size });
    }
    const job = jobs.get(id ?? '');
    if (job === undefined) throw refuse(`${path}: not found`, 404, 5);
    if (method === 'DELETE') {
      jobs.delete(id ?? '');
      return json(200, {});
    }
    if (method !== 'GET') throw refuse('Method Not Allowed', 405, 12);
    return json(200, job);
  };
  return {
    part: refusing(part, refusals),
    refusals,
    /** Ends a fine-tune as time does. */
    end(id: string, how: object = {}): void {
      Object.assign(jobs.get(id) ?? {}, {
        state: 'JOB_STATE_COMPLETED',
        completedTime: nowText(),
        ...how,
      });
    },
  };
}

const embedJob = z.strictObject({
  model: z.string().min(1),
  dataset_id: z.string().min(1),
  input_type: z.enum(['search_document', 'search_query', 'classification', 'clustering', 'image']),
  name: z.string().optional(),
  embedding_types: z.array(z.enum(['float', 'int8', 'uint8', 'binary', 'ubinary'])).optional(),
  truncate: z.enum(['START', 'END']).optional(),
});
interface Dataset {
  readonly id: string;
  readonly type: string;
  readonly at: string;
  looks: number;
}

/**
 * Datasets and embed jobs. Results are files of Avro at addresses that are signed.
 * @param results a job's, in the order of its parts, which the vendor tells in another
 */
export function cohereJobs(apiKey: string, contentAt: () => string, results: readonly Buffer[]) {
  const sets = new Map<string, Dataset>();
  const files = new Map<string, Buffer>();
  const jobs = new Map<string, Record<string, unknown> & { looks: number }>();
  const refusals: string[] = [];
  const refuse = (message: string, status = 400) => new Refused(status, { id: 'r', message });
  const part: VendorPart = (request) => {
    const { method, path, headers } = request;
    if (headers.authorization !== `Bearer ${apiKey}`) throw refuse('invalid api token', 401);
    const url = new URL(path, 'http://cohere');
    const [, version, root = '', id = '', verb = ''] = url.pathname.split('/');
    if (version !== 'v1') throw refuse(`no route ${path}`, 404);
    if (root === 'datasets') return ofDatasets(request, id);
    if (root !== 'embed-jobs') throw refuse(`no route ${path}`, 404);
    if (method === 'POST' && id === '') {
      const asked = readBody(request, embedJob, refuse);
      const set = sets.get(asked.dataset_id);
      if (set?.type !== 'embed-input') throw refuse(`dataset ${asked.dataset_id} not found`, 404);
      if (set.looks < 1) throw refuse('dataset must be validated before it can be used');
      const made = `job-${jobs.size + 1}`;
      jobs.set(made, {
        job_id: made,
        status: 'processing',
        created_at: nowText(),
        input_dataset_id: asked.dataset_id,
        model: asked.model,
        truncate: asked.truncate ?? 'END',
        name: asked.name,
        looks: 0,
      });
      return json(200, { job_id: made, meta: { api_version: { version: '1' } } });
    }
    const told = ({ looks: _looks, ...job }: Record<string, unknown>) => job;
    if (method === 'GET' && id === '')
      return json(200, { embed_jobs: [...jobs.values()].map(told) });
    const job = jobs.get(id);
    if (job === undefined) throw refuse(`embed job ${id} not found`, 404);
    if (method === 'POST' && verb === 'cancel') {
      if (request.body.length > 0) throw refuse('no body here');
      if (job.status !== 'processing') throw refuse('job is not processing');
      job.status = 'cancelling';
      return bytes(204, Buffer.alloc(0));
    }
    if (method !== 'GET' || verb !== '') throw refuse(`no route ${path}`, 404);
    if (job.status === 'cancelling') job.status = 'cancelled';
    else if (job.status === 'processing' && ++job.looks >= 2) {
      job.status = 'complete';
      job.output_dataset_id = outputOf();
    }
    return json(200, told(job));
  };

  function outputOf(): string {
    const id = `ds-${sets.size + 1}`;
    sets.set(id, { id, type: 'embed-result', at: nowText(), looks: 1 });
    for (const [index, content] of results.entries()) files.set(`/co/${id}/${index}.avro`, content);
    return id;
  }

  function ofDatasets(request: RecordedRequest, id: string): UpstreamReply {
    const { method } = request;
    if (method === 'POST') {
      const query = readQuery(
        request.path,
        [
          'name',
          'type',
          'keep_fields',
          'optional_fields',
          'keep_original_file',
          'skip_malformed_input',
        ],
        refuse,
      );
      if (query.get('type') !== 'embed-input') throw refuse('type');
      const text = request.body.toString();
      const [, file = '', content = ''] =
        /name="data"; filename="([^"]+)"[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(text) ?? [];
      if (!/\.(?:jsonl|csv)$/.test(file)) throw refuse('data: a .jsonl or .csv file is required');
      const kept = ['text', ...query.getAll('keep_fields')];
      const rows = content
        .trim()
        .split('\n')
        .map((row) => JSON.parse(row) as Record<string, unknown>);
      for (const row of rows)
        for (const name of kept)
          if (typeof row[name] !== 'string') throw refuse(`schema validation failed: ${name}`);
      const made = `ds-${sets.size + 1}`;
      sets.set(made, { id: made, type: 'embed-input', at: nowText(), looks: 0 });
      return json(200, { id: made });
    }
    const set = sets.get(id);
    if (set === undefined) throw refuse(`dataset ${id} not found`, 404);
    if (method === 'DELETE') {
      sets.delete(id);
      return json(200, {});
    }
    set.looks++;
    const isResult = set.type === 'embed-result';
    return json(200, {
      dataset: {
        id,
        name: 'rows',
        dataset_type: set.type,
        validation_status: 'validated',
        created_at: set.at,
        updated_at: set.at,
        dataset_parts: (isResult ? [...results.keys()].toReversed() : [0]).map((index) => ({
          id: `part-${index}`,
          name: `part-${index}`,
          index,
          ...(isResult && { url: `${contentAt()}/co/${id}/${index}.avro?signature=s` }),
        })),
      },
    });
  }

  return {
    part: refusing(part, refusals),
    refusals,
    /** What is at a signed address. */
    content: (path: string) => files.get(path.split('?')[0] ?? ''),
  };
}
