import { json, type RecordedRequest, type UpstreamReply } from '@sluice/testkit';
import type { z } from 'zod';

/** What a vendor of tests says: an answer, or nothing to what is somebody else's. */
export type VendorPart = (request: RecordedRequest) => UpstreamReply | undefined;

/** Thrown by a vendor's rules, in its own words. */
export class Refused extends Error {
  readonly reply: UpstreamReply;

  constructor(status: number, body: object, headers: Record<string, string> = {}) {
    super(JSON.stringify(body));
    this.reply = json(status, body, headers);
  }
}

/** A vendor whose refusals are kept beside its answers. */
export function refusing(part: VendorPart, refusals: string[]): VendorPart {
  return (request) => {
    try {
      return part(request);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refusals.push(`${request.method} ${request.path}: ${error.message}`);
      return error.reply;
    }
  };
}

/** The body, where the vendor knows each member of it; `refuse` gets the first that is wrong. */
export function readBody<Body>(
  request: RecordedRequest,
  shape: z.ZodType<Body>,
  refuse: (message: string) => Refused,
): Body {
  let body: unknown;
  try {
    body = request.json();
  } catch {
    throw refuse('the body is no JSON');
  }
  const read = shape.safeParse(body);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw refuse(`${issue?.path.join('.')}: ${issue?.message}`);
}

/** Members of a query beyond those that are known. */
export function readQuery(
  path: string,
  known: readonly string[],
  refuse: (message: string) => Refused,
): URLSearchParams {
  const query = new URL(path, 'http://vendor').searchParams;
  for (const name of query.keys())
    if (!known.includes(name)) throw refuse(`unknown parameter ${name}`);
  return query;
}
