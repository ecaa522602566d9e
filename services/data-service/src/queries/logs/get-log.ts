import { create } from '@bufbuild/protobuf';
import { analytics } from '@sluice/proto-stubs';
import type { Condition } from '../filter.ts';
import { Parameters } from '../parameters.ts';
import type { Reader } from '../questions.ts';
import { type Allowed, allowedRows, tenancyOf } from './allowed-rows.ts';
import { checkUuid, clockSlipMs, instant, isId, longestRequestMs, msOfId } from './id-time.ts';
import { readAttemptsAt } from './read-attempts.ts';
import { findEntry, withRecords } from './read-entries.ts';

interface Place {
  request_id: string;
  at: string;
  log_id: string;
}

/** The entry that an id is of, be it its own or that of one of its attempts, with all its attempts. */
export async function getLog(
  client: Reader,
  request: Allowed & { id: string },
): Promise<analytics.GetLogResponse> {
  checkUuid(request.id, 'id');
  const place = (await findAttempt(client, request)) ?? (await findByEntry(client, request));
  if (place === undefined) return create(analytics.GetLogResponseSchema);
  const parameters = new Parameters();
  const tenancy = tenancyOf(request, parameters);
  const at = instant(Number(place.at), parameters);
  const scope = (time: string) => [...tenancy, `${time} = ${at}`];
  const ofRequest = [`request_id = toUUID(${parameters.bind('String', place.request_id)})`];
  const ofEntry = `toUUID(${parameters.bind('String', place.log_id)})`;
  const condition: Condition = {
    tenant: tenancy,
    scope,
    request: ofRequest,
    target: [`(id = ${ofEntry} OR entry_id = ${ofEntry})`],
    entry: [],
    columns: [],
    metadataKeys: [],
    parameters,
  };
  const [found, { attempts }] = await Promise.all([
    findEntry(client, condition),
    readAttemptsAt(client, [...scope('created_at'), ...ofRequest, ...condition.target], parameters),
  ]);
  const [placed] = await withRecords(client, condition, found, attempts);
  return create(analytics.GetLogResponseSchema, { entry: placed?.entry, attempts });
}

function findAttempt(client: Reader, request: Allowed & { id: string }) {
  const parameters = new Parameters();
  const ms = msOfId(request.id);
  return firstPlace(
    client,
    [
      ...allowedRows(request, parameters),
      `created_at >= ${instant(ms - longestRequestMs, parameters)}`,
      `created_at <= ${instant(ms + clockSlipMs, parameters)}`,
      isId('id', request.id, parameters),
    ],
    parameters,
  );
}

/** Of an entry whose first attempt nobody has: it was lost with its replica. */
function findByEntry(client: Reader, request: Allowed & { id: string }) {
  const parameters = new Parameters();
  const ms = msOfId(request.id);
  return firstPlace(
    client,
    [
      ...allowedRows(request, parameters),
      `created_at >= ${instant(ms - lostFirstMs, parameters)}`,
      `created_at <= ${instant(ms + clockSlipMs, parameters)}`,
      `entry_id = toUUID(${parameters.bind('String', request.id)})`,
    ],
    parameters,
  );
}

/** Most requests reach each of their targets sooner; a longer look would read too much for an id that is nobody's. */
const lostFirstMs = 900_000;

async function firstPlace(
  client: Reader,
  conditions: readonly string[],
  parameters: Parameters,
): Promise<Place | undefined> {
  const result = await client.query({
    query: `SELECT request_id, toUnixTimestamp64Milli(created_at) AS at,
        if(entry_id = toUUID('00000000-0000-0000-0000-000000000000'), id, entry_id) AS log_id
      FROM usage_records
      WHERE ${conditions.join(' AND ')}
      LIMIT 1`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  const [row] = await result.json<Place>();
  return row;
}
