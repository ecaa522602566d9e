import { GatewayError } from '@sluice/errors';
import type { JsonObject, JsonValue } from '../contract.ts';
import { known } from './job-documents.ts';

export type VideoStatus = 'queued' | 'in_progress' | 'completed' | 'failed';

/** What callers know a video by. */
export interface VideoFacts {
  readonly id: string;
  readonly model: string;
  readonly status: VideoStatus;
  /** In the vendor's words, where it has none in ours. */
  readonly providerStatus?: string | undefined;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly completedAt?: number | undefined;
  readonly progress?: number;
  readonly seconds: number | undefined;
  /** `1280x720`. */
  readonly size: string | undefined;
  readonly prompt?: string | undefined;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/** OpenAI's video: https://platform.openai.com/docs/api-reference/videos/object */
export function videoDocument(facts: VideoFacts): JsonObject {
  return known({
    id: facts.id,
    object: 'video',
    model: facts.model,
    status: facts.status,
    provider_status: facts.providerStatus,
    progress: facts.status === 'completed' ? 100 : (facts.progress ?? 0),
    created_at: facts.createdAt,
    completed_at: facts.completedAt ?? null,
    expires_at: null,
    seconds: facts.seconds === undefined ? undefined : String(facts.seconds),
    size: facts.size,
    prompt: facts.prompt ?? null,
    remixed_from_video_id: null,
    error: facts.error ?? null,
  });
}

export interface AskedSize {
  readonly width: number;
  readonly height: number;
}

/** @throws GatewayError `request.invalid_field` */
export function sizeIn({ size }: JsonObject): AskedSize | undefined {
  if (size === undefined || size === null) return undefined;
  const [, width, height] = /^(\d{2,4})x(\d{2,4})$/.exec(String(size)) ?? [];
  if (width !== undefined) return { width: Number(width), height: Number(height) };
  throw new GatewayError('request.invalid_field', {
    field: 'body.size',
    message: 'body.size must be a width and a height, as 1280x720.',
  });
}

/** @throws GatewayError `request.invalid_field` */
export function secondsIn({ seconds }: JsonObject): number | undefined {
  if (seconds === undefined || seconds === null) return undefined;
  const number = Number(seconds);
  if (number > 0 && number <= 600) return number;
  throw new GatewayError('request.invalid_field', {
    field: 'body.seconds',
    message: 'body.seconds must be a number of seconds, 600 at most.',
  });
}

/**
 * What the body has beside what OpenAI's videos have: the vendor's own parameters.
 * Forms, which OpenAI's clients send, have texts alone: numbers and the like are read out of them.
 */
export function ownParameters(body: JsonObject): JsonObject {
  const { model: _model, prompt: _prompt, seconds: _seconds, size: _size, ...own } = body;
  return Object.fromEntries(
    Object.entries(own)
      .filter(([name]) => !/^input_reference(?:\[|$)/.test(name))
      .map(([name, value]) => [name, /prompt|text/.test(name) ? value : typed(value)]),
  );
}

function typed(value: JsonValue): JsonValue {
  if (typeof value !== 'string' || !/^(?:true|false|-?\d{1,15}(?:\.\d{1,15})?)$/.test(value))
    return value;
  return value === 'true' || value === 'false' ? value === 'true' : Number(value);
}

/** A picture to begin with, by its address. A file of a form is not taken. @throws GatewayError `request.invalid_field` */
export function referenceIn(body: JsonObject): string | undefined {
  const { input_reference: reference } = body;
  const url =
    typeof reference === 'object' && reference !== null && !Array.isArray(reference)
      ? reference.image_url
      : body['input_reference[image_url]'];
  if (typeof url === 'string' && url !== '') return url;
  if (reference === undefined || reference === null) return undefined;
  throw new GatewayError('request.invalid_field', {
    field: 'body.input_reference',
    message: 'This provider takes a picture to begin with as input_reference: {image_url}.',
  });
}
