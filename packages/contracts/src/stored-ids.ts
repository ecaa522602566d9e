/**
 * Ids of what the service itself keeps for callers: told from those of providers by how they begin. Inside, they are UUIDs.
 */
const prefixes = {
  file: 'file-svc_',
  batch: 'batch_svc_',
  response: 'resp_svc_',
  conversation: 'conv_svc_',
  upload: 'upload_svc_',
  part: 'part_svc_',
} as const;

export type StoredKind = keyof typeof prefixes;

/** What is kept of answers, and of what leads to them. */
export type KeptKind = 'response' | 'conversation';

/** Whether it begins as ours do: such an id is nobody else's to know, whatever follows. */
export function isStoredId(kind: StoredKind, id: string): boolean {
  return id.startsWith(prefixes[kind]);
}

export function storedId(kind: StoredKind, uuid: string): string {
  return `${prefixes[kind]}${uuid.replaceAll('-', '')}`;
}

/** Undefined = it is not the id of any that we keep. */
export function uuidOfStored(kind: StoredKind, id: string): string | undefined {
  const hex = id.startsWith(prefixes[kind]) ? id.slice(prefixes[kind].length) : '';
  const parts = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(hex);
  return parts?.slice(1).join('-');
}
