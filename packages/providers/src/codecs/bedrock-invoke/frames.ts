import type { Envelope } from '../../contract.ts';
import {
  AwsEventStreamUnframer,
  type FrameWriter,
  sseEvent,
} from '../../framing/aws-event-stream.ts';
import type { AwsFrame } from '../../framing/aws-frame.ts';
import { empty } from '../../framing/stream-tap.ts';
import { parseObject, stringOf } from '../../json/json-access.ts';
import { exceptionEvent } from '../bedrock-converse/frames.ts';

/** Events of any model, as it writes them, each by the name of its frame; what went wrong is `exception`. */
const writeChunk: FrameWriter = (frame) => {
  const failed = exceptionEvent(frame);
  if (failed !== undefined) return { bytes: failed };
  if (frame.name !== 'chunk') return { bytes: empty };
  const text = textOfChunk(frame);
  return text === undefined ? undefined : { bytes: sseEvent(frame.name, text) };
};

/** A chunk holds what its model writes, in base64; undefined where it does not. */
export function textOfChunk(frame: AwsFrame): string | undefined {
  const bytes = stringOf(parseObject(frame.payload.toString('utf8'))?.bytes);
  return bytes === undefined ? undefined : Buffer.from(bytes, 'base64').toString('utf8');
}

export const invokeEnvelope: Envelope = {
  openUnframer: () => new AwsEventStreamUnframer(writeChunk),
};
