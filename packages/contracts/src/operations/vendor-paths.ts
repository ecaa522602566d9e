import { barePath } from './match-object.ts';
import type { ErrorShape } from './operation.ts';
import { endpoints, type NamedOperation, objectOperations, operations } from './operations.ts';

/** Google's versions, which nobody else's paths have: `v1beta`, `v1alpha`, `v1beta1`. */
const googlesVersion = /^v\d+(?:alpha|beta)\d*$/;

/** Paths of vendors' own, without what may stand before them, and whose clients ask there. The first that fits counts. */
const vendorPaths: readonly (readonly [path: RegExp, errors: ErrorShape])[] = [
  // On Vertex AI other publishers' clients and OpenAI's are served, too.
  [/\/publishers\/anthropic\/models\/[^/]+:(?:streamR|r)awPredict$/, 'anthropic'],
  [/:(?:streamR|r)awPredict$|\/endpoints\/[^/]+\/chat\/completions$/, 'openai'],
  [
    /^\/(?:projects\/[^/]+\/locations|publishers|tunedModels|upload\/v\d[a-z0-9]*)\/|^\/models\/[^/]+:[a-z]+$/i,
    'google',
  ],
  [
    /^\/model\/.+\/(?:converse|converse-stream|invoke|invoke-with-response-stream|invoke-with-bidirectional-stream|count-tokens)$/,
    'bedrock',
  ],
  [/^\/(?:guardrail\/.+\/apply|async-invoke(?:\/.*)?)$/, 'bedrock'],
];

/** Of what is asked at one path of a vendor: the same wherever that stands. */
const unified: ReadonlyMap<string, ErrorShape> = new Map(
  endpoints
    .filter(({ body }) => body === 'json' || body === 'form')
    .map(({ at, errors }) => [at.slice(at.indexOf('/v1') + '/v1'.length), errors]),
);

/** In whose words a refusal is told at a path that passes through, as its clients are the vendor's; undefined = nobody's that are known. */
export function vendorErrorsAt(pathname: string): ErrorShape | undefined {
  const bare = barePath(pathname);
  if (bare === undefined) return undefined;
  const { path, version } = bare;
  return (
    unified.get(path) ??
    vendorPaths.find(([pattern]) => pattern.test(path))?.[1] ??
    (version !== undefined && googlesVersion.test(version) ? 'google' : undefined)
  );
}

/** The same of any request: what is passed through is told by its path, all else by its row. */
export function errorsOf(
  { errors, body }: Pick<NamedOperation, 'errors' | 'body'>,
  pathname: string,
): ErrorShape {
  return (body === 'raw' ? vendorErrorsAt(pathname) : undefined) ?? errors;
}

/** What begins a path that vendors' clients make of a base address without a path of its own; `v1beta` and the like beside. */
const vendorRoots = /^\/(?:model|models|tunedModels|projects|publishers|guardrail)\//;

/** Azure's, whose address is `/openai`, and Cohere's second version. */
const versionedRoots = /^\/openai\/deployments\/[^/]+\/|^\/v2\/(?:chat|embed|rerank)$/;

/** OpenAI's paths where a vendor has them, which clients of Groq and of Azure append to a host: the same as ours. */
const openAiRoot = '/openai/v1/';

/** First parts of ours that vendors of OpenAI's format have. */
const openAiPaths: ReadonlySet<string> = new Set(
  [...endpoints.filter(({ body }) => body === 'json' || body === 'form'), ...objectOperations]
    .concat(operations.listModels)
    .map(({ at }) => firstOf(at.slice(at.indexOf('/v1/') + '/v1/'.length))),
);

/**
 * Where a vendor's own path at the gateway's root is served: below `/v1`, and OpenAI's in its place.
 * @param target with its query
 * @returns undefined for what is no vendor's
 */
export function vendorTarget(target: string): string | undefined {
  // Nearly every request.
  if (target.startsWith('/v1/')) return undefined;
  if (target.startsWith(openAiRoot))
    return openAiPaths.has(firstOf(target.slice(openAiRoot.length)))
      ? target.slice('/openai'.length)
      : undefined;
  return isVendorRoot(target.split('?', 1)[0] ?? '') ? `/v1${target}` : undefined;
}

function isVendorRoot(pathname: string): boolean {
  if (versionedRoots.test(pathname)) return true;
  if (pathname.startsWith('/v')) return googlesVersion.test(pathname.split('/', 2)[1] ?? '');
  return vendorRoots.test(pathname) && vendorPaths.some(([path]) => path.test(pathname));
}

function firstOf(path: string): string {
  return /^[^/?]*/.exec(path)?.[0] ?? '';
}
