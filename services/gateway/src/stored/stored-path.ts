import { isStoredId, type StoredKind } from '@sluice/contracts';

/** What is asked of what the service itself keeps. */
export interface StoredAsk {
  readonly kind: AskKind;
  /** Of what the path names first; empty = nothing. */
  readonly id: string;
  /** Of the item within it. */
  readonly itemId: string;
  /** Its id says that it is ours, whatever the request, or its config, names. */
  readonly isOurs: boolean;
}

type AskKind = (typeof paths)[number][2];

/** The kind of the id where only our own are meant: any other is its provider's. */
const paths = [
  ['POST', /^\/v1\/files\/?$/, 'create-file'],
  ['GET', /^\/v1\/files\/?$/, 'list-files'],
  ['GET', /^\/v1\/files\/([^/]+)$/, 'get-file'],
  ['DELETE', /^\/v1\/files\/([^/]+)$/, 'delete-file'],
  ['GET', /^\/v1\/files\/([^/]+)\/content$/, 'read-file'],
  ['HEAD', /^\/v1\/files\/([^/]+)\/content$/, 'read-file'],
  ['POST', /^\/v1\/uploads\/?$/, 'create-upload'],
  ['POST', /^\/v1\/uploads\/([^/]+)\/parts$/, 'add-part'],
  ['POST', /^\/v1\/uploads\/([^/]+)\/complete$/, 'complete-upload'],
  ['POST', /^\/v1\/uploads\/([^/]+)\/cancel$/, 'cancel-upload'],
  ['POST', /^\/v1\/batches\/?$/, 'create-batch'],
  ['GET', /^\/v1\/batches\/?$/, 'list-batches'],
  ['GET', /^\/v1\/batches\/([^/]+)$/, 'get-batch'],
  ['POST', /^\/v1\/batches\/([^/]+)\/cancel$/, 'cancel-batch'],
  ['GET', /^\/v1\/batches\/([^/]+)\/output$/, 'read-output'],
  ['GET', /^\/v1\/responses\/([^/]+)$/, 'get-response', 'response'],
  ['DELETE', /^\/v1\/responses\/([^/]+)$/, 'delete-response', 'response'],
  ['POST', /^\/v1\/responses\/([^/]+)\/cancel$/, 'cancel-response', 'response'],
  ['GET', /^\/v1\/responses\/([^/]+)\/input_items$/, 'list-input-items', 'response'],
  ['POST', /^\/v1\/conversations\/?$/, 'create-conversation'],
  ['GET', /^\/v1\/conversations\/([^/]+)$/, 'get-conversation', 'conversation'],
  ['POST', /^\/v1\/conversations\/([^/]+)$/, 'update-conversation', 'conversation'],
  ['DELETE', /^\/v1\/conversations\/([^/]+)$/, 'delete-conversation', 'conversation'],
  ['POST', /^\/v1\/conversations\/([^/]+)\/items$/, 'add-items', 'conversation'],
  ['GET', /^\/v1\/conversations\/([^/]+)\/items$/, 'list-items', 'conversation'],
  ['GET', /^\/v1\/conversations\/([^/]+)\/items\/([^/]+)$/, 'get-item', 'conversation'],
  ['DELETE', /^\/v1\/conversations\/([^/]+)\/items\/([^/]+)$/, 'delete-item', 'conversation'],
] as const satisfies readonly (readonly [string, RegExp, string, StoredKind?])[];

const roots = /^\/v1\/(?:files|uploads|batches|responses|conversations)(?:\/|$)/;

/** Undefined = nothing of the kind. */
export function storedAsk(method: string, pathname: string): StoredAsk | undefined {
  if (!roots.test(pathname)) return undefined;
  for (const [of, pattern, kind, ours] of paths) {
    if (of !== method) continue;
    const [found, id = '', itemId = ''] = pattern.exec(pathname) ?? [];
    if (found === undefined || (ours !== undefined && !isStoredId(ours, id))) continue;
    return { kind, id, itemId, isOurs: ours !== undefined };
  }
  return undefined;
}
