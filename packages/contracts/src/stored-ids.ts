/**
 * Ids of what the service itself keeps for callers: told from those of providers by how they begin. Inside, they are UUIDs.
 */
const prefixes = { file: 'file-svc_', batch: 'batch_svc_' } as const;

export type StoredKind = keyof typeof prefixes;

export function storedId(kind: StoredKind, uuid: string): string {
  return `${prefixes[kind]}${uuid.replaceAll('-', '')}`;
}

/** Undefined = it is not the id of any that we keep. */
export function uuidOfStored(kind: StoredKind, id: string): string | undefined {
  const hex = id.startsWith(prefixes[kind]) ? id.slice(prefixes[kind].length) : '';
  const parts = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(hex);
  return parts?.slice(1).join('-');
}
