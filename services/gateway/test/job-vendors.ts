import { bytes, json, startUpstream, type Upstream } from '@sluice/testkit';

/** A vendor of jobs after OpenAI's reference, which refuses what that refuses. */
export interface JobVendor {
  readonly upstream: Upstream;
  /** What it has made, by its id. */
  readonly jobs: Map<string, Record<string, unknown>>;
  /** Ends a job, as time does. */
  end(id: string, how?: object): void;
}

const now = () => Math.floor(Date.now() / 1000);
let made = 0;

const refusal = (status: number, message: string) =>
  json(status, { error: { message, type: 'invalid_request_error', param: null, code: null } });

const sizes = ['720x1280', '1280x720', '1024x1792', '1792x1024'];

export async function startJobVendor(): Promise<JobVendor> {
  const upstream = await startUpstream();
  const jobs: JobVendor['jobs'] = new Map();
  const keep = (job: Record<string, unknown> & { id: string }) => {
    jobs.set(job.id, job);
    return json(200, job);
  };
  upstream.handle(({ method, path, body, headers }) => {
    const [, , root = '', ...rest] = path.split('?')[0]?.split('/') ?? [];
    if (root === 'files' && method === 'POST')
      return keep({ id: `file-${++made}`, object: 'file', purpose: 'fine-tune' });
    if (root === 'videos') return ofVideos(method, rest, body, String(headers['content-type']));
    if (root === 'fine_tuning' && rest[0] === 'jobs') return ofTuning(method, rest.slice(1), body);
    return refusal(404, `Invalid URL (${method} ${path})`);
  });
  return {
    upstream,
    jobs,
    end(id, how) {
      const job = jobs.get(id) ?? {};
      const { created_at: at } = job;
      const done = job.object === 'video' ? endedVideo : endedTuning;
      jobs.set(id, { ...job, ...done, ...ends(job, Number(at)), ...how });
    },
  };

  function ofVideos(method: string, [id, part]: string[], body: Buffer, type: string) {
    if (method === 'POST' && (id === undefined || part === 'remix')) {
      const asked = readAsked(body, type);
      if (typeof asked.prompt !== 'string') return refusal(400, 'Missing prompt');
      const { size = '720x1280', seconds = '4', model = 'sora-2' } = asked;
      if (part === undefined && !sizes.includes(String(size))) return refusal(400, 'Bad size');
      if (!['4', '8', '12'].includes(String(seconds))) return refusal(400, 'Bad seconds');
      const from = part === 'remix' ? jobs.get(id ?? '') : undefined;
      if (part === 'remix' && from === undefined) return refusal(404, 'No such video');
      return keep({
        id: `video_${++made}`,
        object: 'video',
        created_at: now() - 90,
        completed_at: null,
        expires_at: null,
        error: null,
        status: 'queued',
        progress: 0,
        model: from?.model ?? model,
        prompt: asked.prompt,
        seconds: from?.seconds ?? seconds,
        size: from?.size ?? size,
        remixed_from_video_id: from === undefined ? null : id,
      });
    }
    if (id === undefined) return json(200, { object: 'list', data: [...jobs.values()] });
    const job = jobs.get(id);
    if (job === undefined) return refusal(404, `Video with id '${id}' not found`);
    if (part === 'content')
      return job.status === 'completed'
        ? bytes(200, Buffer.from('mp4 bytes'), { 'content-type': 'video/mp4' })
        : refusal(400, 'Video is not ready yet');
    if (method === 'DELETE') {
      jobs.delete(id);
      return json(200, { id, object: 'video.deleted', deleted: true });
    }
    return json(200, job);
  }

  function ofTuning(method: string, [id, part]: string[], body: Buffer) {
    if (method === 'POST' && id === undefined) {
      const asked = readAsked(body, 'application/json');
      if (typeof asked.training_file !== 'string') return refusal(400, 'Missing training_file');
      if (typeof asked.model !== 'string') return refusal(400, 'Missing model');
      return keep({
        id: `ftjob-${++made}`,
        object: 'fine_tuning.job',
        created_at: now() - 7200,
        finished_at: null,
        error: null,
        fine_tuned_model: null,
        status: 'validating_files',
        trained_tokens: null,
        hyperparameters: { n_epochs: 'auto' },
        result_files: [],
        seed: 1,
        organization_id: 'org-1',
        ...asked,
      });
    }
    if (id === undefined)
      return json(200, { object: 'list', data: [...jobs.values()], has_more: false });
    const job = jobs.get(id);
    if (job === undefined) return refusal(404, `Could not find fine tune: ${id}`);
    if (part === 'events' || part === 'checkpoints')
      return json(200, { object: 'list', data: [{ id: `${part}-1`, level: 'info' }] });
    if (method === 'POST' && part !== 'cancel' && part !== 'pause' && part !== 'resume')
      return refusal(405, 'Not allowed to POST on this');
    if (part === 'cancel')
      return keep({ ...job, id, status: 'cancelled', finished_at: now() - 10, trained_tokens: 0 });
    return json(200, job);
  }
}

const endedVideo = { status: 'completed', progress: 100 };
const endedTuning = { status: 'succeeded', trained_tokens: 5768 };
const ends = ({ object, model }: Record<string, unknown>, from: number) =>
  object === 'video'
    ? { completed_at: from + 60 }
    : { finished_at: from + 5400, fine_tuned_model: `ft:${model}:org::1` };

function readAsked(body: Buffer, type: string): Record<string, unknown> {
  const text = body.toString();
  if (!type.startsWith('multipart/')) return JSON.parse(text || '{}') as Record<string, unknown>;
  return Object.fromEntries(
    [...text.matchAll(/name="([^"]+)"\r\n\r\n([^\r]*)\r\n/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  );
}
