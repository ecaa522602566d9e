import { canonicalPrefix, storedId } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { type JsonObject, responseObject } from '@sluice/providers';
import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { Reply } from '../exchange/reply.ts';
import { noteRequest } from '../pipeline/stages/read-request.ts';
import type { KeptDeps } from './current-response.ts';
import { eventsReply } from './events-reply.ts';
import type { StoredOwner } from './files.ts';
import type { KeepWatch } from './keep-watch.ts';
import { itemsOfInput, itemsOfOutput } from './kept-items.ts';
import { keptReply } from './kept-reply.ts';
import type { KeptJob, KeptResponse, KeptStore } from './kept-store.ts';
import { jsonReply } from './requests.ts';
import { ownerOf } from './stored-owner.ts';

/** A response that takes longer has failed. */
const windowMs = 24 * 3_600_000;
const headersLengthMax = 16 * 1024;
const kind = 'response' as const;
/** Of what was answered and paid for. */
const keepTriesMax = 6;
const keepPauseMs = 2_000;

export interface BackgroundDeps extends KeptDeps {
  readonly watch: KeepWatch;
}

interface Asked {
  readonly id: string;
  readonly owner: StoredOwner;
  readonly kept: Required<Pick<KeptResponse, 'items' | 'job'>>;
}

/**
 * Leaves a response to be made: what is asked is kept, and a job says that it is to be done. The job comes back as a request of this key
 * (`runKept`), whichever data service takes it up, and whichever gateway it asks.
 */
export async function leaveToBackground(
  { subject, arrival }: ModelExchange,
  { id, owner, kept }: Asked,
  { store, register }: BackgroundDeps,
): Promise<Reply> {
  const headersJson = headersForJob(owner, arrival);
  const response = queued(id, kept.job.request, kept.job.told, arrival.startedAtMs);
  await store.create(kind, id, owner, { response, streams: subject.wantsStream, ...kept });
  try {
    const job = { owner, kind, id, headersJson, windowMs: BigInt(windowMs) };
    await register.ask(register.batches.createBatch, job);
  } catch (error) {
    // Nobody will make it. Should this fail, it goes when it expires.
    await store.delete({ kind, workspaceId: owner.workspaceId, id }).catch(() => {});
    throw error;
  }
  if (!subject.wantsStream) return jsonReply(response);
  return eventsReply({ id, owner, after: -1, signal: arrival.signal }, { store, register });
}

/** As JSON. @throws GatewayError `response.needs_key`, `request.invalid_field` */
export function headersForJob({ apiKeyId }: StoredOwner, arrival: ArrivedRequest): string {
  if (apiKeyId === '') throw new GatewayError('response.needs_key');
  const headersJson = JSON.stringify(headersOfJob(arrival));
  if (headersJson.length > headersLengthMax)
    throw new GatewayError('request.invalid_field', {
      field: 'headers',
      message: `What is said by headers of a response in the background must not be longer than ${headersLengthMax} characters.`,
    });
  return headersJson;
}

/** As the caller said it; whose it is, the job's token says. */
function headersOfJob({ headers }: ArrivedRequest): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith(canonicalPrefix) && name !== `${canonicalPrefix}api-key`
        ? [[name, String(value)]]
        : [],
    ),
  );
}

function queued(id: string, request: JsonObject, told: JsonObject, nowMs: number): JsonObject {
  const head = {
    id: storedId(kind, id),
    createdSeconds: Math.floor(nowMs / 1000),
    model: String(request.model ?? ''),
    serviceTier: undefined,
  };
  const options = { provider: '', nowMs, requestedModel: head.model, request, strict: false };
  const { provider: _provider, ...response } = responseObject(
    head,
    { status: 'queued', output: [] },
    options,
  );
  return { ...response, ...told };
}

/** The request of a job: what is asked is what was kept, and what is answered takes its place. */
export async function runKept(
  exchange: ModelExchange,
  id: string,
  next: () => Promise<Reply>,
  { store, watch }: BackgroundDeps,
): Promise<Reply> {
  const owner = ownerOf(exchange);
  const name = { kind, workspaceId: owner.workspaceId, id };
  const { response, job } = await store.find(name);
  // It was made and kept, and whoever asked was killed, or its gateway, before it heard so: nobody is called, nothing is recorded.
  if (job === undefined) return jsonReply(response);
  exchange.subject.body = Buffer.from(JSON.stringify(job.request));
  noteRequest(exchange, job.request);
  exchange.subject.bringsKept = true;
  return keptReply(await next(), {
    told: { ...job.told, created_at: response.created_at ?? null },
    async keep(made) {
      for (let turn = 1; ; turn += 1) {
        try {
          await finish(made, { name, owner }, store);
          watch.kept();
          return true;
        } catch (error) {
          watch.lost(error, owner.workspaceId, exchange.arrival.requestIdText, true);
          const isAway = error instanceof GatewayError && error.status >= 500;
          if (!isAway || turn === keepTriesMax) return false;
          await new Promise((resolve) => setTimeout(resolve, keepPauseMs));
        }
      }
    },
    lose(error) {
      watch.lost(error, owner.workspaceId, exchange.arrival.requestIdText, true);
      // Whoever keeps its events for those who listen cannot hold this one either.
      return 'cut';
    },
  });
}

async function finish(
  response: JsonObject,
  {
    name,
    owner,
  }: { name: { kind: 'response'; workspaceId: string; id: string }; owner: StoredOwner },
  store: KeptStore,
): Promise<void> {
  const { job } = await store.find(name);
  // Another run was faster.
  if (job === undefined) return;
  await store.change(name, owner, ({ job: _job, ...kept }) => ({ ...kept, response }));
  if (job.conversation === undefined) return;
  const { workspaceId } = name;
  const said = [...ownItems(job), ...itemsOfOutput(response)];
  await store.change({ kind: 'conversation', workspaceId, id: job.conversation }, owner, (now) => ({
    ...now,
    items: [...now.items, ...said],
  }));
}

/** What the caller said, behind what was said before. */
function ownItems({ request, said }: KeptJob): JsonObject[] {
  const items = itemsOfInput(request.input);
  return items.slice(items.length - said);
}
