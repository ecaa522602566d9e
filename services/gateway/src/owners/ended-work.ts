import type { ObjectKind } from '@sluice/contracts';

/** Work of which a provider says that it has ended, and what it used. */
export interface EndedWork {
  readonly kind: Extract<ObjectKind, 'response' | 'run'>;
  readonly id: string;
  /** Unix ms, as the provider says it; 0 = it does not. */
  readonly createdAtMs: number;
  readonly completedAtMs: number;
  readonly status: string;
  /** As a reply of `format` would tell it. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly format: 'openai-responses' | 'openai-chat';
}

const ended: ReadonlySet<unknown> = new Set([
  'completed',
  'failed',
  'incomplete',
  'cancelled',
  'expired',
]);

/**
 * What a document says of work that went on after its answer: a response made in
 * the background, or a run. Undefined = it is none, it goes on, or used nothing.
 */
export function endedWorkIn(document: Record<string, unknown>): EndedWork | undefined {
  const { object, id, status, usage, model, background } = document;
  if (typeof id !== 'string' || id === '' || id.length > 512 || !ended.has(status))
    return undefined;
  if (typeof usage !== 'object' || usage === null) return undefined;
  const times = {
    createdAtMs: msOf(document.created_at),
    completedAtMs: msOf(document.completed_at),
    status: String(status),
  };
  if (object === 'response' && background === true)
    return { kind: 'response', id, ...times, document, format: 'openai-responses' };
  if (object !== 'thread.run') return undefined;
  // Counted as the completions that it is made of.
  const told = { object: 'chat.completion', id, model, usage, choices: [] };
  return { kind: 'run', id, ...times, document: told, format: 'openai-chat' };
}

function msOf(seconds: unknown): number {
  return typeof seconds === 'number' && seconds > 0 ? Math.floor(seconds * 1000) : 0;
}
