/** Videos of fal, whose models have parameters of their own, by its queue. https://docs.fal.ai/model-apis/model-endpoints/queue, November 2026 */
import { GatewayError } from '@sluice/errors';
import type { JsonObject, JsonValue } from '../contract.ts';
import { VendorRefusal } from '../files/file-objects.ts';
import { arrayOf, objectOf, parseJson, stringOf } from '../json/json-access.ts';
import type { JobUse, VendorJobs } from '../vendor-jobs.ts';
import { statusIn } from '../vendor-status.ts';
import { contentAt, known, one, packedId, required, unpackedId } from './job-documents.ts';
import {
  ownParameters,
  referenceIn,
  secondsIn,
  sizeIn,
  type VideoStatus,
  videoDocument,
} from './videos.ts';

const states: Readonly<Record<string, VideoStatus>> = {
  IN_QUEUE: 'queued',
  IN_PROGRESS: 'in_progress',
  COMPLETED: 'completed',
};

export const falVideos: VendorJobs = {
  base: () => 'https://queue.fal.run',
  operations: {
    async createVideo({ body }, { facts, ask, nowMs }) {
      const { model } = facts;
      if (!/^[\w.-]+(?:\/[\w.-]+){1,6}$/.test(model) || model.includes('..'))
        throw new GatewayError('request.invalid_field', {
          field: 'body.model',
          message: 'Models of fal are paths: fal-ai/veo3.',
        });
      // What is paid for is said once: in whichever words.
      const { duration, ...own } = ownParameters(body);
      const seconds = secondsIn({ seconds: body.seconds ?? numberIn(duration) });
      const size = sizeIn(body);
      const image = referenceIn(body);
      const job = await ask({
        method: 'POST',
        path: `/${model}`,
        json: known({
          ...own,
          prompt: required(body, 'prompt'),
          duration: seconds === undefined ? undefined : durationOf(model, seconds),
          aspect_ratio:
            size === undefined ? own.aspect_ratio : size.width >= size.height ? '16:9' : '9:16',
          resolution: size === undefined ? own.resolution : `${Math.min(size.width, size.height)}p`,
          image_url: image ?? own.image_url,
        }),
      });
      const name = stringOf(job.request_id);
      if (name === undefined) throw new GatewayError('upstream.invalid_response');
      const createdAt = Math.floor(nowMs / 1000);
      const told = size === undefined ? '' : `${size.width}x${size.height}`;
      return {
        document: videoDocument({
          id: packedId('video', [model, seconds ?? '', told, createdAt, name]),
          model,
          status: 'queued',
          createdAt,
          seconds,
          size: told === '' ? undefined : told,
          prompt: stringOf(body.prompt),
        }),
      };
    },
    async getVideo({ id }, use) {
      const { model, seconds, size, createdAt } = read(id);
      const { status, error } = await use.ask({ method: 'GET', path: `${requestOf(id)}/status` });
      const going = statusIn(states, status, 'in_progress');
      const came = status === 'COMPLETED' ? await resultOf(id, stringOf(error), use) : undefined;
      return {
        document: videoDocument({
          id,
          model,
          ...going,
          ...(came && { status: came.status }),
          createdAt,
          // A caller who asked for no length is charged for the one there is.
          seconds: seconds ?? came?.seconds,
          size,
          error:
            came?.failure === undefined ? undefined : { code: 'failed', message: came.failure },
        }),
      };
    },
    getVideoContent: async ({ id }, use) => contentAt(stringOf((await videoOf(id, use))?.url)),
    async deleteVideo({ id }, { ask }) {
      await ask({ method: 'PUT', path: `${requestOf(id)}/cancel` });
      return { document: { id, object: 'video.deleted', deleted: true } };
    },
  },
};

/** `8s` and `8` are a number. */
function numberIn(duration: JsonValue | undefined): JsonValue {
  return typeof duration === 'string' ? duration.replace(/s$/, '') : (duration ?? null);
}

/** Some say `8s`, some `8`. */
function durationOf(model: string, seconds: number): string {
  return /veo/.test(model) ? `${seconds}s` : String(seconds);
}

function read(id: string) {
  const [model = '', seconds = '', size = '', createdAt = '', name = ''] = unpackedId(
    'video',
    id,
    5,
  );
  return {
    model,
    seconds: seconds === '' ? undefined : Number(seconds),
    size: size === '' ? undefined : size,
    createdAt: Number(createdAt),
    name,
  };
}

/** Requests are kept by the app, which is the first two parts of a model. */
function requestOf(id: string): string {
  const { model, name } = read(id);
  return `/${model.split('/').slice(0, 2).map(one).join('/')}/requests/${one(name)}`;
}

async function videoOf(id: string, { ask }: JobUse): Promise<JsonObject | undefined> {
  return objectOf((await ask({ method: 'GET', path: requestOf(id) })).video);
}

interface CameTo {
  readonly status: 'completed' | 'failed';
  readonly failure?: string;
  readonly seconds?: number | undefined;
}

/** What is over may have failed: then it says so itself, or a refusal stands where its result would be. */
async function resultOf(id: string, failure: string | undefined, use: JobUse): Promise<CameTo> {
  if (failure !== undefined) return { status: 'failed', failure };
  try {
    const duration = Number((await videoOf(id, use))?.duration);
    return { status: 'completed', seconds: duration > 0 ? duration : undefined };
  } catch (error) {
    if (!(error instanceof VendorRefusal) || ![400, 422].includes(error.status)) throw error;
    const { detail } = objectOf(parseJson(error.bytes.toString('utf8'))) ?? {};
    const told = stringOf(detail) ?? stringOf(objectOf(arrayOf(detail)?.[0])?.msg);
    return { status: 'failed', failure: told ?? 'No video was made.' };
  }
}
