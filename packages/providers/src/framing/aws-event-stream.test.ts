import { EventStreamCodec, type MessageHeaders } from '@smithy/eventstream-codec';
import { fromUtf8, toUtf8 } from '@smithy/util-utf8';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventFrame, frame } from '../../test/aws-frames.ts';
import { AwsEventStreamUnframer, sseEvent } from './aws-event-stream.ts';
import { faultOfFrame } from './aws-exceptions.ts';
import { type AwsFrame, awsFrameBytesMax } from './aws-frame.ts';

/** Feeds the bytes cut at the positions; gives what came out, and the frames that were seen. */
function play(bytes: Buffer, cuts: readonly number[] = []) {
  const frames: AwsFrame[] = [];
  const unframer = new AwsEventStreamUnframer((seen) => {
    frames.push({ ...seen, payload: Buffer.from(seen.payload) });
    return { bytes: sseEvent(seen.name, seen.payload.toString()) };
  });
  const edges = [...new Set([0, ...cuts, bytes.length])].sort((a, b) => a - b);
  const out = edges
    .slice(1)
    .map((end, index) => unframer.push(Buffer.from(bytes.subarray(edges[index], end))));
  out.push(unframer.end());
  return { text: Buffer.concat(out).toString(), frames, fault: unframer.fault };
}

const three = Buffer.concat([
  eventFrame('messageStart', '{"role":"assistant"}'),
  eventFrame('contentBlockDelta', '{"delta":{"text":"Grüße 🙂"},"contentBlockIndex":0}'),
  eventFrame('messageStop', '{"stopReason":"end_turn"}'),
]);
const asEvents =
  'event: messageStart\ndata: {"role":"assistant"}\n\n' +
  'event: contentBlockDelta\ndata: {"delta":{"text":"Grüße 🙂"},"contentBlockIndex":0}\n\n' +
  'event: messageStop\ndata: {"stopReason":"end_turn"}\n\n';

describe('AwsEventStreamUnframer', () => {
  it('gives an event for each frame, whole, byte by byte and cut anywhere', () => {
    expect(play(three)).toMatchObject({ text: asEvents, fault: undefined });
    const everywhere = Array.from({ length: three.length }, (_, index) => index);
    expect(play(three, everywhere).text).toBe(asEvents);
    fc.assert(
      fc.property(fc.array(fc.nat(three.length), { maxLength: 12 }), (cuts) => {
        expect(play(three, cuts).text).toBe(asEvents);
      }),
    );
  });

  it('reads past headers of every type', () => {
    const headers: MessageHeaders = {
      yes: { type: 'boolean', value: true },
      no: { type: 'boolean', value: false },
      byte: { type: 'byte', value: 1 },
      short: { type: 'short', value: 2 },
      integer: { type: 'integer', value: 3 },
      bytes: { type: 'binary', value: new Uint8Array([1, 2, 3]) },
      time: { type: 'timestamp', value: new Date(0) },
      uuid: { type: 'uuid', value: '00000000-0000-0000-0000-000000000000' },
      ':event-type': { type: 'string', value: 'late' },
    };
    const bytes = new EventStreamCodec(toUtf8, fromUtf8).encode({ headers, body: fromUtf8('{}') });
    expect(play(Buffer.from(bytes)).text).toBe('event: late\ndata: {}\n\n');
  });

  it('keeps line ends of a payload inside its event', () => {
    expect(play(eventFrame('e', '{\n"a":1}')).text).toBe('event: e\ndata: {\ndata: "a":1}\n\n');
  });

  it.each([
    ['prelude', 3],
    ['checksum of the prelude', 9],
    ['headers', 14],
    ['payload', three.length - 20],
    ['checksum', three.length - 1],
  ])('fails on one flipped bit in the %s, and gives what came before', (_, position) => {
    const broken = Buffer.from(three);
    broken[position] = (broken[position] as number) ^ 1;
    for (const cuts of [[], Array.from({ length: broken.length }, (_, index) => index)]) {
      const { text, fault } = play(broken, cuts);
      expect(fault).toMatchObject({ type: 'invalid_stream', status: 502 });
      expect(asEvents.startsWith(text)).toBe(true);
      expect(text.length).toBeLessThan(asEvents.length);
    }
  });

  it('gives nothing for a frame that was cut off, and calls that no fault of the framing', () => {
    const { text, fault } = play(three.subarray(0, three.length - 1));
    expect(text).toBe(asEvents.slice(0, asEvents.indexOf('event: messageStop')));
    expect(fault).toBeUndefined();
  });

  it('refuses a frame above the cap as soon as its prelude is there', () => {
    const large = eventFrame('e', Buffer.alloc(awsFrameBytesMax - 100));
    expect(large.length).toBeLessThanOrEqual(awsFrameBytesMax);
    expect(play(large, [100_000]).fault).toBeUndefined();
    const larger = eventFrame('e', Buffer.alloc(awsFrameBytesMax));
    expect(play(larger.subarray(0, 12)).fault).toMatchObject({ type: 'invalid_stream' });
  });

  it('never throws on garbage', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(play(Buffer.from(bytes)).frames).toEqual([]);
      }),
    );
  });

  it('reads a megabyte in small pieces without joining it each time', () => {
    const large = eventFrame('e', JSON.stringify({ text: 'x'.repeat(1_000_000) }));
    const cuts = Array.from({ length: 20_000 }, (_, index) => index * 50);
    expect(play(large, cuts).frames).toHaveLength(1);
  });
});

describe('faultOfFrame', () => {
  const faults: [Buffer, object][] = [
    [
      frame(
        { ':message-type': 'exception', ':exception-type': 'throttlingException' },
        '{"message":"slow down"}',
      ),
      { type: 'throttlingException', message: 'slow down', status: 429 },
    ],
    [
      frame(
        { ':message-type': 'exception', ':exception-type': 'validationException' },
        '{"message":"bad"}',
      ),
      { type: 'validationException', message: 'bad', status: 400 },
    ],
    [
      frame(
        { ':message-type': 'exception', ':exception-type': 'serviceUnavailableException' },
        '{"Message":"gone"}',
      ),
      { type: 'serviceUnavailableException', message: 'gone', status: 503 },
    ],
    [
      frame(
        { ':message-type': 'exception', ':exception-type': 'modelStreamErrorException' },
        '{"message":"model","originalStatusCode":424}',
      ),
      { type: 'modelStreamErrorException', message: 'model', status: 502 },
    ],
    [
      frame(
        { ':message-type': 'error', ':error-code': 'InternalFailure', ':error-message': 'oops' },
        '',
      ),
      { type: 'InternalFailure', message: 'oops', status: 500 },
    ],
    [
      frame({ ':message-type': 'exception', ':exception-type': 'newException' }, 'text'),
      { type: 'newException', message: 'The provider reported an error.', status: 502 },
    ],
  ];
  it.each(faults)('knows the status of fault %#', (bytes, expected) => {
    expect(faultOfFrame(play(bytes).frames[0]!)).toEqual(expected);
  });

  it('is undefined for an event', () => {
    expect(faultOfFrame(play(three).frames[0]!)).toBeUndefined();
  });
});
