/** What is asked of what the service itself keeps. */
export type StoredAsk =
  | { readonly kind: 'create-file' | 'list-files' | 'create-batch' | 'list-batches' }
  | {
      readonly kind:
        | 'get-file'
        | 'delete-file'
        | 'read-file'
        | 'get-batch'
        | 'cancel-batch'
        | 'read-output';
      readonly id: string;
    };

const paths: readonly [string, RegExp, StoredAsk['kind']][] = [
  ['POST', /^\/v1\/files\/?$/, 'create-file'],
  ['GET', /^\/v1\/files\/?$/, 'list-files'],
  ['GET', /^\/v1\/files\/([^/]+)$/, 'get-file'],
  ['DELETE', /^\/v1\/files\/([^/]+)$/, 'delete-file'],
  ['GET', /^\/v1\/files\/([^/]+)\/content$/, 'read-file'],
  ['POST', /^\/v1\/batches\/?$/, 'create-batch'],
  ['GET', /^\/v1\/batches\/?$/, 'list-batches'],
  ['GET', /^\/v1\/batches\/([^/]+)$/, 'get-batch'],
  ['POST', /^\/v1\/batches\/([^/]+)\/cancel$/, 'cancel-batch'],
  ['GET', /^\/v1\/batches\/([^/]+)\/output$/, 'read-output'],
];

/** Undefined = nothing of the kind. */
export function storedAsk(method: string, pathname: string): StoredAsk | undefined {
  if (!pathname.startsWith('/v1/files') && !pathname.startsWith('/v1/batches')) return undefined;
  for (const [of, pattern, kind] of paths) {
    if (of !== method) continue;
    const found = pattern.exec(pathname);
    if (found !== null) return { kind, id: found[1] ?? '' } as StoredAsk;
  }
  return undefined;
}
