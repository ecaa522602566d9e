import type { BilledKind, ReplyUnits } from '@sluice/contracts';
import { readBytesMax } from './ids-in-reply.ts';

/** Work of which a provider says that it has ended, and what it used. */
export interface EndedWork {
  readonly kind: BilledKind;
  readonly id: string;
  /** Unix ms, as the provider says it; 0 = it does not. */
  readonly createdAtMs: number;
  readonly completedAtMs: number;
  readonly status: string;
  readonly used: Told | Counted;
}

/** As a reply of `format` would tell it. */
export interface Told {
  readonly document: Readonly<Record<string, unknown>>;
  readonly format: 'openai-responses' | 'openai-chat';
}

export interface Counted {
  readonly model: string;
  readonly units: ReplyUnits;
  /** By our clock, where the provider charges by its own. */
  readonly isEstimated: boolean;
}

/**
 * What a document says of work that went on after its answer: a response made in
 * the background, a run, a video, a fine-tuning job. Undefined = it is none, it
 * goes on, or used nothing.
 */
export function endedWorkIn(document: Record<string, unknown>): EndedWork | undefined {
  const { object, id, status } = document;
  if (typeof id !== 'string' || id === '' || id.length > 512) return undefined;
  if (typeof object !== 'string' || !Object.hasOwn(readers, object)) return undefined;
  const found = readers[object as keyof typeof readers](document);
  if (found === undefined) return undefined;
  return {
    ...found,
    id,
    createdAtMs: msOf(document.created_at),
    completedAtMs: msOf(document.completed_at ?? document.finished_at),
    status: String(status),
  };
}

type Found = Pick<EndedWork, 'kind' | 'used'> | undefined;

const readers = {
  response: (document: Record<string, unknown>): Found =>
    document.background === true && hasUsed(document)
      ? { kind: 'response', used: { document, format: 'openai-responses' } }
      : undefined,
  'thread.run': (document: Record<string, unknown>): Found => {
    if (!hasUsed(document)) return undefined;
    const { id, model, usage } = document;
    // Counted as the completions that it is made of.
    const told = { object: 'chat.completion', id, model, usage, choices: [] };
    return { kind: 'run', used: { document: told, format: 'openai-chat' } };
  },
  /** One that failed is not charged. */
  video: ({ status, model, seconds, size }: Record<string, unknown>): Found => {
    const videoSeconds = Number(seconds);
    if (status !== 'completed' || !(videoSeconds > 0)) return undefined;
    const units = { videoSeconds, ...(typeof size === 'string' ? { videoSize: size } : {}) };
    return { kind: 'video', used: { model: textOf(model), units, isEstimated: false } };
  },
  /** What was trained is charged, whether or not it came to a model. */
  'fine_tuning.job': (document: Record<string, unknown>): Found => {
    if (!['succeeded', 'failed', 'cancelled'].includes(String(document.status))) return undefined;
    const { trained_tokens, model } = document;
    const trainedTokens = Number(trained_tokens);
    const from = msOf(document.created_at);
    const seconds = (msOf(document.finished_at) - from) / 1000;
    const hasTokens = trainedTokens > 0;
    // A job that did not come to a model says nothing of the time it trained.
    const hasTime = from > 0 && seconds > 0 && document.status === 'succeeded';
    if (!hasTokens && !hasTime) return undefined;
    const units = {
      ...(hasTokens ? { trainedTokens } : {}),
      ...(hasTime ? { trainingSeconds: Math.round(seconds) } : {}),
    };
    // Vendors charge for the time of the training, we know that of the job.
    const used = { model: textOf(model), units, isEstimated: !hasTokens };
    return { kind: 'fine-tuning job', used };
  },
};

/**
 * Whether a document of these bytes may be such work: a look at a response that was not made in the background is none,
 * and need not be read. What may be spelled in another way may be anything.
 */
export function mayTellOfWork(bytes: Buffer): boolean {
  return bytes.length > readBytesMax || worded.test(bytes.toString('latin1'));
}

const objects = Object.keys(readers)
  .filter((object) => object !== 'response')
  .map((object) => object.replaceAll('.', String.raw`\.`))
  .join('|');
const worded = new RegExp(String.raw`\\u|"(?:${objects})"|"background"\s*:\s*true`);

function hasUsed({ status, usage }: Record<string, unknown>): boolean {
  return ended.has(status) && typeof usage === 'object' && usage !== null;
}

const ended: ReadonlySet<unknown> = new Set([
  'completed',
  'failed',
  'incomplete',
  'cancelled',
  'expired',
]);

function msOf(seconds: unknown): number {
  return typeof seconds === 'number' && seconds > 0 ? Math.floor(seconds * 1000) : 0;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
