import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { fromUnknown } from '@sluice/errors';
import type { Request, Response } from 'express';
import { fromDatabase } from '../../kernel/database/faults.ts';

/** An error as OTLP has it: a `google.rpc.Status`, in the encoding of the request. */
export function answerError(caught: unknown, req: Request, res: Response): void {
  const error = fromUnknown(fromDatabase(caught));
  // What is our fault is told by the one place that logs it, too.
  if (error.status === 500 || res.headersSent) throw error;
  for (const [name, value] of Object.entries(error.headers ?? {})) res.setHeader(name, value);
  res.status(error.status);
  const code = codes[error.status] ?? codeInternal;
  const path = error.field === undefined ? '' : ` (${error.field})`;
  const message = `${error.message}${path}`;
  if (isJson(req)) {
    res.json({ code, message, details: [] });
    return;
  }
  const status = new BinaryWriter()
    .tag(1, WireType.Varint)
    .int32(code)
    .tag(2, WireType.LengthDelimited)
    .string(message)
    .finish();
  res.setHeader('content-type', 'application/x-protobuf');
  res.end(status);
}

/** Whoever speaks neither reads JSON. */
function isJson({ headers }: Request): boolean {
  return !/^application\/x-protobuf\b/i.test(headers['content-type'] ?? '');
}

const codeInternal = 13;

/** gRPC's, by HTTP's. */
const codes: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  413: 3,
  429: 8,
  503: 14,
  504: 4,
};
