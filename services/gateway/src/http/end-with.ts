import type { ServerResponse } from 'node:http';

/** Copying more than this takes as long as a second buffer does. */
const joinedBytesMax = 16 * 1024;

/** Ends a reply whose head is written and not sent. A short body leaves with it as one text: one buffer of one write of the socket. */
export function endWith(res: ServerResponse, body: Buffer): void {
  if (body.length > joinedBytesMax) res.end(body);
  else res.end(body.toString('latin1'), 'latin1');
}
