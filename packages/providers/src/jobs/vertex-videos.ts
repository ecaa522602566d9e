/**
 * Veo on Vertex AI: a long-running prediction, of which the model itself is asked.
 * https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/veo-video-generation, November 2026
 */
import { GatewayError } from '@sluice/errors';
import { publisherPath } from '../addresses/vertex-ai.ts';
import type { CallFacts } from '../call-facts.ts';
import type { JsonObject } from '../contract.ts';
import { arrayOf, objectOf, stringOf } from '../json/json-access.ts';
import type { JobUse, VendorJobs } from '../vendor-jobs.ts';
import { known, packedId, placeWithin, required, unpackedId } from './job-documents.ts';
import {
  type AskedSize,
  ownParameters,
  referenceIn,
  secondsIn,
  sizeIn,
  videoDocument,
} from './videos.ts';

/** Where nothing is asked: https://cloud.google.com/vertex-ai/generative-ai/docs/models/veo/3-0-generate */
const secondsUsual = 8;
const bucketSetting = 'vertex-storage-bucket-name';
const usual: AskedSize = { width: 1280, height: 720 };
/** A video lies in its answer as base64. */
const answerBytesMax = 48 * 1024 * 1024;

export const vertexVideos: VendorJobs = {
  operations: {
    async createVideo({ body }, { facts, ask, nowMs }) {
      const seconds = secondsIn(body) ?? secondsUsual;
      const size = sizeIn(body) ?? usual;
      const image = referenceIn(body);
      const own = ownParameters(body);
      if (own.sampleCount !== undefined && Number(own.sampleCount) !== 1)
        throw new GatewayError('request.invalid_field', {
          field: 'body.sampleCount',
          message: 'A video is one here: leave sampleCount out.',
        });
      const { storageUri } = own;
      if (storageUri !== undefined)
        placeWithin('gs', bucketSetting, facts, `${storageUri}/x`, 'body.storageUri');
      const operation = await ask({
        method: 'POST',
        path: publisherPath(facts, 'predictLongRunning'),
        json: {
          instances: [
            known({
              prompt: required(body, 'prompt'),
              image: image === undefined ? undefined : imageOf(image, facts),
            }),
          ],
          parameters: {
            ...own,
            // What is paid for is said once.
            durationSeconds: seconds,
            aspectRatio: size.width >= size.height ? '16:9' : '9:16',
            // Those of the second generation have one, and refuse to hear of it.
            ...(!facts.model.includes('veo-2') && { resolution: resolutionOf(size) }),
            sampleCount: 1,
          },
        },
      });
      const name = stringOf(operation.name)?.split('/').at(-1);
      if (name === undefined) throw new GatewayError('upstream.invalid_response');
      const createdAt = Math.floor(nowMs / 1000);
      const told = `${size.width}x${size.height}`;
      return {
        document: videoDocument({
          id: packedId('video', [facts.model, seconds, told, createdAt, name]),
          model: facts.model,
          status: 'queued',
          createdAt,
          seconds,
          size: told,
          prompt: stringOf(body.prompt),
        }),
      };
    },
    async getVideo({ id }, use) {
      const { model, seconds, size, createdAt } = read(id);
      const operation = await operationOf(id, use);
      const error = objectOf(operation.error);
      const isDone = operation.done === true;
      // What was found unfit is left out, without an error.
      const isThere = videoIn(operation) !== undefined;
      return {
        document: videoDocument({
          id,
          model,
          status: !isDone ? 'in_progress' : isThere ? 'completed' : 'failed',
          createdAt,
          seconds,
          size,
          error:
            !isDone || isThere
              ? undefined
              : { code: String(error?.code ?? 'filtered'), message: reasonOf(operation) },
        }),
      };
    },
    async getVideoContent({ id }, use) {
      const operation = await operationOf(id, use);
      const video = videoIn(operation);
      const data = stringOf(video?.bytesBase64Encoded);
      if (data !== undefined)
        return {
          bytes: Buffer.from(data, 'base64'),
          contentType: stringOf(video?.mimeType) ?? 'video/mp4',
        };
      throw new GatewayError('request.invalid_field', {
        field: 'path.video_id',
        message:
          video === undefined
            ? 'The video is not there yet, or will never be: look at its status.'
            : `The video lies at ${stringOf(video.gcsUri)}: fetch it there.`,
      });
    },
  },
};

function read(id: string) {
  const [model = '', seconds = '', size = '', createdAt = '', name = ''] = unpackedId(
    'video',
    id,
    5,
  );
  return { model, seconds: Number(seconds), size, createdAt: Number(createdAt), name };
}

function operationOf(id: string, { ask, facts }: JobUse): Promise<JsonObject> {
  const { model, name } = read(id);
  const path = publisherPath({ ...facts, model }, 'fetchPredictOperation');
  const operationName = `${path.slice('/v1/'.length).replace(/:[^:]*$/, '')}/operations/${name}`;
  return ask({ method: 'POST', path, json: { operationName }, bytesMax: answerBytesMax });
}

function videoIn(operation: JsonObject): JsonObject | undefined {
  return objectOf(arrayOf(objectOf(operation.response)?.videos)?.[0]);
}

function reasonOf(operation: JsonObject): string {
  const reasons = arrayOf(objectOf(operation.response)?.raiMediaFilteredReasons) ?? [];
  return (
    stringOf(objectOf(operation.error)?.message) ?? stringOf(reasons[0]) ?? 'No video was made.'
  );
}

function resolutionOf({ width, height }: AskedSize): string {
  const short = Math.min(width, height);
  return short >= 2160 ? '4k' : `${short}p`;
}

/** @throws GatewayError `request.invalid_field` */
function imageOf(url: string, facts: CallFacts): JsonObject {
  if (url.startsWith('gs://')) {
    placeWithin('gs', bucketSetting, facts, url, 'body.input_reference');
    return { gcsUri: url, mimeType: /\.png$/i.test(url) ? 'image/png' : 'image/jpeg' };
  }
  const [, mimeType, data] = /^data:(image\/[\w.+-]+);base64,(.+)$/s.exec(url) ?? [];
  if (mimeType !== undefined && data !== undefined) return { bytesBase64Encoded: data, mimeType };
  throw new GatewayError('request.invalid_field', {
    field: 'body.input_reference',
    message: 'This provider takes pictures as data:image/…;base64 or gs://.',
  });
}
