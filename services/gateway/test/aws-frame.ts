import { EventStreamCodec } from '@smithy/eventstream-codec';
import { fromUtf8, toUtf8 } from '@smithy/util-utf8';

const codec = new EventStreamCodec(toUtf8, fromUtf8);

/** One frame of an event stream, as AWS's own code writes it. */
export function awsFrame(headers: Record<string, string>, payload: object): Buffer {
  const typed = Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }]);
  const body = Buffer.from(JSON.stringify(payload));
  return Buffer.from(codec.encode({ headers: Object.fromEntries(typed), body }));
}

export function awsEvent(name: string, payload: object): Buffer {
  return awsFrame({ ':message-type': 'event', ':event-type': name }, payload);
}

export const awsStreamHeaders = { 'content-type': 'application/vnd.amazon.eventstream' };
