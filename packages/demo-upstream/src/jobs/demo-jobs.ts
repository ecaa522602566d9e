import { isObject, type JsonObject, VendorFault } from '../protocol.ts';
import { pageOf, parsed } from './demo-files.ts';

/** Jobs that are made, looked at and end by themselves, as OpenAI's: https://platform.openai.com/docs/api-reference */
export interface DemoJobs {
  /** Undefined = the path is of no job. @throws VendorFault */
  answer(
    method: string,
    url: string,
    readText: () => Promise<string>,
  ): Promise<JobReply> | undefined;
}

export type JobReply =
  | { readonly kind: 'json'; readonly body: unknown }
  | { readonly kind: 'video'; readonly bytes: Buffer };

interface Job {
  readonly document: JsonObject & { id: string };
  readonly madeAtMs: number;
  /** Cancelled, or not there any more. */
  stopped: boolean;
}

interface Sent {
  readonly readText: () => Promise<string>;
  readonly query: URLSearchParams;
}

/** It is begun after a third of it. */
const videoTakesMs = 3000;
const tuningTakesMs = 6000;
/** The oldest goes. */
const jobsMax = 1000;
const sizes: readonly unknown[] = ['720x1280', '1280x720', '1024x1792', '1792x1024'];
const lengths: readonly unknown[] = ['4', '8', '12'];

export function createDemoJobs(now: () => number = Date.now): DemoJobs {
  const jobs = new Map<string, Job>();
  let made = 0;

  function keep(document: JsonObject, prefix: string): JsonObject {
    const id = `${prefix}${(++made).toString(36).padStart(6, '0')}${now().toString(36)}`;
    const job: Job = { document: { id, ...document }, madeAtMs: now(), stopped: false };
    jobs.set(id, job);
    const [oldest] = jobs.keys();
    if (jobs.size > jobsMax && oldest !== undefined) jobs.delete(oldest);
    return present(job);
  }

  function present(job: Job): JsonObject {
    const { document, madeAtMs, stopped } = job;
    return document.object === 'video'
      ? videoAt(document, madeAtMs, now())
      : tuningAt(document, madeAtMs, now(), stopped);
  }

  function find(id: string, object: string, message: string): Job {
    const job = jobs.get(id);
    if (job === undefined || job.document.object !== object) throw new VendorFault(404, message);
    return job;
  }

  async function ofVideos(
    method: string,
    [id, part]: readonly string[],
    { readText, query }: Sent,
  ): Promise<JobReply> {
    if (method === 'POST' && (id === undefined || part === 'remix')) {
      const asked = parsed(await readText());
      if (typeof asked.prompt !== 'string' || asked.prompt === '')
        throw new VendorFault(400, "Missing required parameter: 'prompt'.", { param: 'prompt' });
      const from =
        id === undefined ? undefined : find(id, 'video', `Video ${id} not found.`).document;
      const { model = 'sora-2', seconds = '4', size = '720x1280' } = from ?? asked;
      if (!lengths.includes(seconds))
        throw new VendorFault(400, "Invalid value: 'seconds' must be 4, 8 or 12.", {
          param: 'seconds',
        });
      if (!sizes.includes(size))
        throw new VendorFault(400, `Invalid value: 'size' must be one of ${sizes.join(', ')}.`, {
          param: 'size',
        });
      const video = {
        object: 'video',
        model,
        prompt: asked.prompt,
        seconds,
        size,
        remixed_from_video_id: id ?? null,
        error: null,
      };
      return json(keep(video, 'video_'));
    }
    if (id === undefined) return json(listOf('video', query));
    const job = find(id, 'video', `Video ${id} not found.`);
    if (method === 'DELETE') {
      jobs.delete(id);
      return json({ id, object: 'video.deleted', deleted: true });
    }
    if (part !== 'content') return json(present(job));
    if (present(job).status !== 'completed') throw new VendorFault(400, 'Video is not ready yet.');
    return { kind: 'video', bytes: smallestVideo };
  }

  async function ofTuning(
    method: string,
    [id, part]: readonly string[],
    { readText, query }: Sent,
  ): Promise<JobReply> {
    if (method === 'POST' && id === undefined) {
      const asked = parsed(await readText());
      for (const param of ['model', 'training_file'])
        if (typeof asked[param] !== 'string' || asked[param] === '')
          throw new VendorFault(400, `Missing required parameter: '${param}'.`, { param });
      const { model, training_file, validation_file = null, suffix = null, method: how } = asked;
      const job = {
        object: 'fine_tuning.job',
        model,
        training_file,
        validation_file,
        user_provided_suffix: suffix,
        hyperparameters: isObject(asked.hyperparameters) ? asked.hyperparameters : { n_epochs: 3 },
        ...(how === undefined ? {} : { method: how }),
        organization_id: 'org-demo',
        result_files: [],
        seed: 1,
        error: null,
      };
      return json(keep(job, 'ftjob-'));
    }
    if (id === undefined) return json(listOf('fine_tuning.job', query));
    const job = find(id, 'fine_tuning.job', `Could not find fine tune: ${id}`);
    if (method === 'POST' && part === 'cancel') job.stopped = true;
    const document = present(job);
    if (part === 'events')
      return json({ object: 'list', data: eventsOf(document), has_more: false });
    if (part === 'checkpoints') {
      const isThere = document.status === 'succeeded';
      return json({
        object: 'list',
        data: isThere ? [checkpointOf(document)] : [],
        has_more: false,
      });
    }
    return json(document);
  }

  function listOf(object: string, query: URLSearchParams): JsonObject {
    const newest = [...jobs.values()]
      .filter(({ document }) => document.object === object)
      .reverse();
    return pageOf(
      newest.map((job) => ({ ...present(job), id: job.document.id })),
      query,
    );
  }

  return {
    answer(method, url, readText) {
      const [path = '', search] = url.split('?');
      const [, , root, ...rest] = path.split('/');
      const sent = { readText, query: new URLSearchParams(search) };
      if (root === 'videos') return ofVideos(method, rest, sent);
      if (root === 'fine_tuning' && rest[0] === 'jobs')
        return ofTuning(method, rest.slice(1), sent);
      return undefined;
    },
  };
}

function videoAt(document: JsonObject, madeAtMs: number, nowMs: number): JsonObject {
  const done = Math.min(1, (nowMs - madeAtMs) / videoTakesMs);
  const created = Math.floor(madeAtMs / 1000);
  return {
    ...document,
    status: done < 1 / 3 ? 'queued' : done < 1 ? 'in_progress' : 'completed',
    progress: Math.floor(done * 100),
    created_at: created,
    completed_at: done < 1 ? null : Math.floor((madeAtMs + videoTakesMs) / 1000),
    expires_at: done < 1 ? null : created + 3600,
  };
}

function tuningAt(
  document: JsonObject,
  madeAtMs: number,
  nowMs: number,
  stopped: boolean,
): JsonObject {
  const done = Math.min(1, (nowMs - madeAtMs) / tuningTakesMs);
  const status = stopped
    ? 'cancelled'
    : done < 1 / 3
      ? 'validating_files'
      : done < 1
        ? 'running'
        : 'succeeded';
  const isDone = status === 'succeeded';
  return {
    ...document,
    status,
    created_at: Math.floor(madeAtMs / 1000),
    finished_at: isDone ? Math.floor((madeAtMs + tuningTakesMs) / 1000) : null,
    trained_tokens: isDone ? 5000 : null,
    fine_tuned_model: isDone
      ? `ft:${String(document.model)}:demo:${String(document.user_provided_suffix ?? '')}:1`
      : null,
  };
}

function eventsOf({ id, status, created_at }: JsonObject): JsonObject[] {
  return [`The job is ${String(status)}`, 'Created fine-tuning job'].map((message, at) => ({
    id: `ftevent-${String(id)}-${at}`,
    object: 'fine_tuning.job.event',
    created_at,
    level: 'info',
    type: 'message',
    message,
  }));
}

function checkpointOf({ id, finished_at, fine_tuned_model }: JsonObject): JsonObject {
  return {
    id: `ftckpt-${String(id)}`,
    object: 'fine_tuning.job.checkpoint',
    created_at: finished_at,
    fine_tuned_model_checkpoint: fine_tuned_model,
    fine_tuning_job_id: id,
    step_number: 100,
    metrics: { step: 100, train_loss: 0.5 },
  };
}

function json(body: unknown): JobReply {
  return { kind: 'json', body };
}

/** The head of an MP4 file, of which nothing can be seen. */
const smallestVideo = Buffer.from(
  'AAAAHGZ0eXBpc29tAAACAGlzb21pc28ybXA0MQAAAAhmcmVlAAAACG1kYXQ=',
  'base64',
);
