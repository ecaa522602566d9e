import type { Request, Response } from 'express';
import type { NewAuditEntry } from '../audit/chain.ts';
import { maskedHeaders, maskedJson, maskText } from '../credentials/mask.ts';
import { clientAddress } from './arrival.ts';
import { refuseUnstorableText } from './json-body.ts';

/** Who asked for what, as an audit entry says it. */
export type AskedFor = Pick<
  NewAuditEntry,
  | 'organisationId'
  | 'timestamp'
  | 'userId'
  | 'userType'
  | 'apiKeyId'
  | 'workspaceId'
  | 'resourceType'
  | 'action'
  | 'detail'
>;

/** The entry of a request that was answered with this status, its secrets masked. */
export function auditEntryOf(
  req: Request,
  res: Response,
  asked: AskedFor,
  status: number,
): NewAuditEntry {
  return {
    ...asked,
    method: req.method,
    uri: maskText(`${req.baseUrl}${req.path}`).slice(0, 2048),
    requestId: String(res.locals.requestId),
    requestBody: maskedJson(storable(req.body)),
    queryParams: maskedJson(storable(req.query)),
    requestHeaders: maskedHeaders(req.headers),
    responseStatusCode: status,
    clientIp: clientAddress(req),
  };
}

/** A body that was refused for its text must not break its own audit entry. */
function storable(value: unknown): unknown {
  try {
    refuseUnstorableText(value);
    return value;
  } catch {
    return undefined;
  }
}
