/** Videos of Together, much as OpenAI's, at the second version of its API. https://docs.together.ai/reference/create-videos, November 2026 */
import type { JsonObject } from '../contract.ts';
import { objectOf, stringOf } from '../json/json-access.ts';
import type { VendorJobs } from '../vendor-jobs.ts';
import { statusIn } from '../vendor-status.ts';
import { contentAt, known, one, required, secondsOf } from './job-documents.ts';
import {
  ownParameters,
  referenceIn,
  secondsIn,
  sizeIn,
  type VideoStatus,
  videoDocument,
} from './videos.ts';

export const togetherVideos: VendorJobs = {
  base: () => 'https://api.together.xyz/v2',
  operations: {
    async createVideo({ body }, { facts, ask }) {
      const seconds = secondsIn(body);
      const image = referenceIn(body);
      const json = known({
        ...ownParameters(body),
        model: facts.model,
        prompt: required(body, 'prompt'),
        seconds: seconds === undefined ? undefined : String(seconds),
        ...sizeIn(body),
        ...(image !== undefined && { media: { frame_images: [{ input_image: image }] } }),
      });
      return { document: presented(await ask({ method: 'POST', path: '/videos', json })) };
    },
    getVideo: async ({ id }, { ask }) => ({
      document: presented(await ask({ method: 'GET', path: `/videos/${one(id)}` })),
    }),
    async getVideoContent({ id }, { ask }) {
      const video = await ask({ method: 'GET', path: `/videos/${one(id)}` });
      return contentAt(stringOf(objectOf(video.outputs)?.video_url));
    },
  },
};

const states: Readonly<Record<string, VideoStatus>> = {
  queued: 'queued',
  in_progress: 'in_progress',
  completed: 'completed',
  failed: 'failed',
};
/** OpenAI's videos are deleted, and not cancelled. */
const cancelled = 'cancelled';

function presented(video: JsonObject): JsonObject {
  const seconds = Number(video.seconds);
  const failure = objectOf(video.error);
  const { status, providerStatus } =
    video.status === cancelled
      ? { status: 'failed' as const, providerStatus: cancelled }
      : statusIn(states, video.status, 'in_progress');
  return videoDocument({
    id: stringOf(video.id) ?? '',
    model: stringOf(video.model) ?? '',
    status,
    providerStatus,
    createdAt: secondsOf(video.created_at) ?? 0,
    completedAt: secondsOf(video.completed_at) ?? undefined,
    seconds: seconds > 0 ? seconds : undefined,
    size: stringOf(video.size),
    error:
      failure === undefined
        ? undefined
        : { code: stringOf(failure.code) ?? 'failed', message: stringOf(failure.message) ?? '' },
  });
}
