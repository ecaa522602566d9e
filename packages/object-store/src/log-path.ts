/** The layouts of logs in a store: `v1` knows organisation and log, `v2` when, and whose. */
export const logFormats = ['v1', 'v2'] as const;
export type LogFormat = (typeof logFormats)[number];

export interface StoredUnder {
  readonly organisationId: string;
  readonly workspaceSlug: string;
  /** A UUIDv7: it names its own time. */
  readonly logId: string;
}

/** The key of a log's object. All of it stands in the log's record. */
export function logPath(format: LogFormat, { organisationId, workspaceSlug, logId }: StoredUnder) {
  const folder = logFolder(organisationId);
  if (format === 'v1') return `${folder}${logId}.json`;
  const [date = '', time = ''] = new Date(timeOfLog(logId)).toISOString().split('T');
  return `${folder}${workspaceSlug}/${date.replaceAll('-', '/')}/${time.slice(0, 2)}/${logId}.json`;
}

/** What all logs of an organisation begin with, in both layouts. */
export function logFolder(organisationId: string): string {
  return `30/${organisationId}/`;
}

/** The id of the log that a key is of, with its time in Unix ms; undefined = it is none of ours. */
export function logOfKey(key: string): { logId: string; atMs: number } | undefined {
  const logId =
    /(?:^|\/)([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})\.json$/.exec(key)?.[1];
  return logId === undefined ? undefined : { logId, atMs: timeOfLog(logId) };
}

function timeOfLog(logId: string): number {
  return Number.parseInt(logId.replaceAll('-', '').slice(0, 12), 16);
}
