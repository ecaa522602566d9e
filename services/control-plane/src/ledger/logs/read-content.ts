import type { AnswerOf } from '@sluice/contracts/admin';
import { jsonBounds, readJsonObject } from '@sluice/json';
import {
  kindOfEndpoint,
  type LogReader,
  type StoredLog,
  shownHeaders,
  visibleContent,
} from '@sluice/log-content';
import { type LogFormat, logPath, type ObjectStore } from '@sluice/object-store';
import type { usage } from '@sluice/proto-stubs';
import { isSuccess, logIdOf } from './record-parts.ts';

/** What of a log's content is shown, and why not all of it is. */
export interface ShownContent {
  readonly state: ContentState;
  readonly request?: Shown<StoredLog['request']>;
  readonly response?: Shown<StoredLog['response']>;
  readonly transformedRequest?: StoredLog['transformedRequest'];
  readonly originalResponse?: StoredLog['originalResponse'];
}

type Shown<Part extends StoredLog['request'] | StoredLog['response']> = Pick<
  Part,
  Extract<keyof Part, 'headers' | 'serviceHeaders' | 'body'>
>;

/**
 * `shown`: all of it; `partly-shown`: what embeddings and the like leave out is not there.
 * `hidden`: the caller may not look into requests. `not-kept`: a setting, or the
 * request itself, said so, or no store is set. `pending`: it is on its way.
 * `expired`: older than logs are kept. `dropped`: lost on its way. `store-away`:
 * the store does not answer.
 */
export type ContentState = NonNullable<AnswerOf<'logs.read'>['content']>;

export interface ContentParts {
  /** Undefined = none is set here. */
  readonly store: Pick<ObjectStore, 'get'> | undefined;
  readonly now: Date;
  readonly keptDays: number;
}

/** What the store has of a log, as far as the reader may see it: decided by the function that decided on keeping it. */
export async function readContent(
  record: usage.UsageRecord,
  reader: LogReader,
  { store, now, keptDays }: ContentParts,
): Promise<ShownContent> {
  const { organisationId, workspaceId, apiKeyId, userId } = record;
  const visible = visibleContent(
    {
      kind: kindOfEndpoint(record.endpoint),
      // What was kept was kept by what held then.
      mode: 'full',
      isEnforced: false,
      isUnwanted: false,
      hasFailed: !isSuccess(record),
    },
    { reader, owner: { organisationId, workspaceId, apiKeyId, userId } },
  );
  if (!visible.request && !visible.response) return { state: 'hidden' };
  if (record.logFormat === '') return { state: 'not-kept' };
  const ageMs = now.getTime() - Number(record.createdAtMs);
  if (ageMs > keptDays * dayMs) return { state: 'expired' };
  if (store === undefined) return { state: 'store-away' };
  let content: Buffer | undefined;
  try {
    content = await store.get(keyOf(record));
  } catch {
    return { state: 'store-away' };
  }
  const stored = content === undefined ? undefined : readStored(content, record);
  if (stored === undefined) return { state: ageMs < pendingMs ? 'pending' : 'dropped' };
  const { request, response, transformedRequest, originalResponse } = stored;
  const isWhole = visible.hidden === undefined;
  return {
    state: isWhole ? 'shown' : 'partly-shown',
    ...(visible.request && {
      request: {
        headers: masked(request.headers),
        serviceHeaders: masked(request.serviceHeaders),
        ...(request.body !== undefined && { body: request.body }),
      },
    }),
    ...(visible.response && {
      response: {
        headers: masked(response.headers),
        ...(response.body !== undefined && { body: response.body }),
      },
    }),
    ...(visible.provider && {
      ...(transformedRequest !== undefined && { transformedRequest }),
      ...(originalResponse !== undefined && { originalResponse }),
    }),
  };
}

function keyOf(record: usage.UsageRecord): string {
  const { organisationId, workspaceSlug } = record;
  const format: LogFormat = record.logFormat === 'v2' ? 'v2' : 'v1';
  return logPath(format, { organisationId, workspaceSlug, logId: logIdOf(record) });
}

/** Undefined where it is not the log that was looked for: a bucket may be shared. */
function readStored(content: Buffer, record: usage.UsageRecord): StoredLog | undefined {
  const stored = readJsonObject(content, jsonBounds.reply) as StoredLog | undefined;
  const isIt =
    stored?._id === logIdOf(record) &&
    stored.organisation_id === record.organisationId &&
    stored.workspace_id === record.workspaceId;
  return isIt ? stored : undefined;
}

/** Once more: what a gateway of an earlier release let through is not shown by this one. */
function masked(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const shown = shownHeaders(headers, nobody, (value) => value);
  return { ...shown.headers, ...shown.serviceHeaders };
}

const nobody: ReadonlySet<string> = new Set();
const dayMs = 86_400_000;
/** So long a gateway may take to write what it has. */
const pendingMs = 60_000;
