import type { StoredOwner } from './files.ts';
import type { KeptResponse, KeptStore } from './kept-store.ts';
import type { StoredRegister } from './register.ts';

export interface KeptDeps {
  readonly store: KeptStore;
  readonly register: StoredRegister;
}

const kind = 'response' as const;

const states: Readonly<Record<string, string>> = {
  validating: 'queued',
  in_progress: 'in_progress',
  finalizing: 'in_progress',
  cancelling: 'cancelled',
  cancelled: 'cancelled',
  completed: 'completed',
  failed: 'failed',
  expired: 'failed',
};

/** A response as it is now: what its job has come to, and what was made. @throws GatewayError `response.not_found`, `response.unavailable` */
export async function currentResponse(
  id: string,
  { workspaceId }: StoredOwner,
  { store, register }: KeptDeps,
): Promise<KeptResponse> {
  const name = { kind, workspaceId, id };
  const kept = await store.find(name);
  if (kept.response.background !== true) return kept;
  const { batch } = await register.ask(register.batches.getBatch, name);
  const status = states[batch?.status ?? ''] ?? 'failed';
  const { response } = kept;
  if (status === 'cancelled') return { ...kept, response: { ...response, status, output: [] } };
  if (kept.job === undefined) return kept;
  // It was finished between the two looks.
  const now = status === 'completed' ? await store.find(name) : kept;
  if (now.job === undefined) return now;
  if (status === 'queued' || status === 'in_progress')
    return { ...now, response: { ...response, status } };
  const [fault] = JSON.parse(batch?.errorsJson || '[]') as { code: string; message: string }[];
  const { code, message } = fault ?? lost;
  return { ...now, response: { ...response, status: 'failed', error: { code, message } } };
}

const lost = {
  code: 'server_error',
  message: 'What was answered could not be kept.',
};

/** One that has ended stays as it is. */
export async function cancelJob(
  id: string,
  { workspaceId }: StoredOwner,
  { register }: Pick<KeptDeps, 'register'>,
): Promise<void> {
  await register.ask(register.batches.cancelBatch, { workspaceId, id, kind });
}
