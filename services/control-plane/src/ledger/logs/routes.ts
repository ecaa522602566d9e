import { GatewayError } from '@sluice/errors';
import { reachOf } from '@sluice/log-content';
import type { PriceBook } from '@sluice/pricing';
import type { usage } from '@sluice/proto-stubs';
import type { Caller } from '../../kernel/access/caller.ts';
import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import type { Ledger } from '../analytics/ledger.ts';
import { filterOf } from '../analytics/routes.ts';
import { insertLogs } from './insert-logs.ts';
import { logFilter } from './log-filter.ts';
import { presentLog } from './present-log.ts';
import { presentRequest } from './present-request.ts';
import { presentTrace } from './present-trace.ts';
import { type ContentParts, readContent } from './read-content.ts';
import { logIdOf } from './record-parts.ts';
import { findKeptDays, findOrganisationName } from './store.ts';

export function logOperations(
  ledger: Pick<Ledger, 'listLogs' | 'getLog' | 'listAttempts' | 'writeUsage'>,
  book: PriceBook,
  store: ContentParts['store'],
) {
  const partsOf = async ({ db, now, caller }: AdminRequest): Promise<ContentParts> => ({
    store,
    now,
    keptDays: await findKeptDays(db, caller.organisationId),
  });
  return {
    ...implementAll('logs', {
      create: async (call, { body }) => ({
        status: 'success',
        message: 'Logs successfully saved',
        log_ids: await insertLogs(call, body, { ledger, book }),
      }),
      list: async (call, { query }) => {
        const { cursor = '' } = query;
        const answer = await ledger.listLogs(
          {
            filter: { ...(await filterOf(call, query)), ...logFilter(query) },
            pageSize: query.page_size ?? 50,
            cursor,
          },
          call.signal,
        );
        const name = await findOrganisationName(call.db, call.caller.organisationId);
        return {
          object: 'list',
          ...(cursor === '' && {
            total: Number(answer.total),
            total_is_bound: answer.totalIsBound,
          }),
          data: answer.entries.flatMap((entry) =>
            entry.record === undefined ? [] : presentLog(entry, entry.record, name),
          ),
          next_cursor: answer.nextCursor === '' ? null : answer.nextCursor,
        };
      },
      read: async (call) => {
        const { apiKeyId, ...whose } = reachOf(readerIn(call));
        const { entry } = await ledger.getLog({ ...whose, id: idIn(call, 'logId') }, call.signal);
        const record = entry?.record;
        if (entry === undefined || record === undefined) throw notFound();
        if (apiKeyId !== undefined && record.apiKeyId !== apiKeyId) throw notFound();
        const name = await findOrganisationName(call.db, call.caller.organisationId);
        const content = await readContent(record, call.caller, await partsOf(call));
        return presentLog(entry, record, name, content);
      },
    }),
    ...implementAll('requests', {
      read: async (call) => {
        const { attempts, isCutOff, lateHooks, adjusted } = await ledger.listAttempts(
          {
            ...reachOf(readerIn(call)),
            requestId: idIn(call, 'requestId'),
          },
          call.signal,
        );
        const [first, ...others] = attempts;
        if (first === undefined) throw notFound();
        const contents = await contentsOf([first, ...others], call.caller, await partsOf(call));
        return presentRequest([first, ...others], { isCutOff, lateHooks, adjusted, contents });
      },
    }),
    ...implementAll('traces', {
      read: async (call) => {
        const traceId = pathParameter(call, 'traceId');
        const { attempts, ...found } = await ledger.listAttempts(
          {
            ...reachOf(readerIn(call)),
            traceId,
          },
          call.signal,
        );
        const [first, ...others] = attempts;
        if (first === undefined) throw notFound();
        return presentTrace(traceId, [first, ...others], found);
      },
    }),
  };
}

/** An organisation key that names a workspace looks into that one. */
function readerIn({ caller }: AdminRequest): Caller {
  const { workspaceId = caller.namedWorkspaceId } = caller;
  return { ...caller, workspaceId };
}

/** Of each target that was asked, with what its last attempt came to. */
async function contentsOf(
  attempts: readonly usage.UsageRecord[],
  reader: Caller,
  parts: ContentParts,
) {
  const lastOfLogs = new Map(attempts.map((record) => [logIdOf(record), record]));
  return Promise.all(
    [...lastOfLogs].slice(0, contentsMax).map(async ([log_id, record]) => {
      const { state, ...content } = await readContent(record, reader, parts);
      return { log_id, content: state, ...content };
    }),
  );
}

/** Each may be a megabyte or two. */
const contentsMax = 10;

/** What is no id is the id of nothing. */
function idIn(call: AdminRequest, name: string): string {
  const id = pathParameter(call, name);
  if (!isUuid(id)) throw notFound();
  return id.toLowerCase();
}

function notFound(): GatewayError {
  return new GatewayError('admin.not_found');
}
