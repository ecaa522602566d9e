import type { Envelope } from '../../contract.ts';
import {
  AwsEventStreamUnframer,
  type FrameWriter,
  sseEvent,
} from '../../framing/aws-event-stream.ts';
import { faultOfFrame } from '../../framing/aws-exceptions.ts';
import type { AwsFrame } from '../../framing/aws-frame.ts';
import { empty } from '../../framing/stream-tap.ts';
import { exception } from './wire.ts';

/** Frames of a Converse stream as server-sent events under their own names; what went wrong is `exception`. */
const writeConverseFrame: FrameWriter = (frame) => {
  // AWS opens its streams with a response that has no content here.
  if (frame.name === 'initial-response') return { bytes: empty };
  return { bytes: exceptionEvent(frame) ?? sseEvent(frame.name, frame.payload.toString('utf8')) };
};

/** Undefined = nothing went wrong. */
export function exceptionEvent(frame: AwsFrame): Buffer | undefined {
  const fault = faultOfFrame(frame);
  if (fault === undefined) return undefined;
  const { type, message } = fault;
  return sseEvent(exception, JSON.stringify({ type, message }));
}

export const converseEnvelope: Envelope = {
  openUnframer: () => new AwsEventStreamUnframer(writeConverseFrame),
};
