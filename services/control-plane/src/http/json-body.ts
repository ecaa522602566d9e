import type { IncomingMessage } from 'node:http';
import { GatewayError } from '@sluice/errors';
import express, { type Request, type RequestHandler, type Response } from 'express';

const depthMax = 64;

/**
 * Reads the body as JSON, whatever content type it claims: half of all clients
 * forget to claim one. Text that Postgres cannot store is refused here.
 */
export function jsonBody(options: { bytesMax: number }): RequestHandler {
  const empty = new WeakSet<IncomingMessage>();
  const parse = express.json({
    limit: options.bytesMax,
    type: () => true,
    strict: false,
    verify(req, _res, raw, encoding) {
      if (raw.length === 0) empty.add(req);
      // JSON is UTF-8; what follows counts its bytes.
      if (encoding !== 'utf-8') throw new GatewayError('request.unsupported_content_type');
      refuseDeepNesting(raw);
    },
  });
  return (req, res, next) =>
    parse(req, res, (error: unknown) => {
      if (error !== undefined && error !== null) return next(fromBodyParser(error));
      // The parser takes a body of no bytes for an empty object; it is no body.
      if (empty.has(req)) req.body = undefined;
      try {
        refuseUnstorableText(req.body);
      } catch (fault) {
        return next(fault);
      }
      next();
    });
}

/** Reads the body now, when the caller is known to be somebody. */
export function readBody(req: Request, res: Response, jsonBody: RequestHandler): Promise<void> {
  return new Promise((resolve, reject) => {
    jsonBody(req, res, (error: unknown) =>
      error === undefined || error === null ? resolve() : reject(error),
    );
  });
}

/** Depth is counted on the bytes, before anything is built from them. */
export function refuseDeepNesting(raw: Buffer): void {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < raw.length; index += 1) {
    const byte = raw[index];
    if (inString) {
      if (byte === 0x5c) index += 1;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > depthMax) throw new GatewayError('request.too_deep');
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
  }
}

/**
 * NUL and lone surrogates are JSON, but no text for Postgres; `__proto__` is a
 * name that copying an object would lose or obey.
 */
export function refuseUnstorableText(value: unknown): void {
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next === 'string') {
      if (next.includes('\0') || !next.isWellFormed() || next === '__proto__')
        throw new GatewayError('admin.validation', {
          message:
            'The request holds text that cannot be stored (NUL, half a character or __proto__).',
        });
    } else if (typeof next === 'object' && next !== null) {
      for (const [name, inner] of Object.entries(next)) pending.push(name, inner);
    }
  }
}

function fromBodyParser(error: unknown): unknown {
  if (error instanceof GatewayError) return error;
  const type = (error as { type?: string }).type;
  switch (type) {
    case 'entity.too.large':
      return new GatewayError('request.too_large', { cause: error });
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return new GatewayError('request.unsupported_content_type', { cause: error });
    case 'request.aborted':
      return new GatewayError('request.aborted', { cause: error });
    default:
      return new GatewayError('request.malformed_json', { cause: error });
  }
}
