import { EventStreamCodec } from '@smithy/eventstream-codec';
import { fromUtf8, toUtf8 } from '@smithy/util-utf8';

const codec = new EventStreamCodec(toUtf8, fromUtf8);

/** One frame as AWS's own code writes it. */
export function frame(headers: Record<string, string>, payload: string | Buffer): Buffer {
  const typed = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, { type: 'string' as const, value }]),
  );
  return Buffer.from(codec.encode({ headers: typed, body: Buffer.from(payload) }));
}

export function eventFrame(name: string, payload: string | Buffer): Buffer {
  const type = { ':message-type': 'event', ':content-type': 'application/json' };
  return frame({ ':event-type': name, ...type }, payload);
}

/**
 * The frames of a fixture, which tells each as two lines: `event: <name>`,
 * `exception: <name>` or `error: <code>`, and `data: <payload>`.
 */
export function framesOf(fixture: Buffer): Buffer {
  return Buffer.concat(
    recordsOf(fixture).map(({ kind, name, data }) => {
      if (kind === 'event') return eventFrame(name, data);
      if (kind === 'error')
        return frame({ ':message-type': 'error', ':error-code': name, ':error-message': data }, '');
      return frame({ ':message-type': 'exception', ':exception-type': name }, data);
    }),
  );
}

/** The same for InvokeModel, whose events are chunks with the model's own event inside. */
export function chunkFramesOf(fixture: Buffer): Buffer {
  return Buffer.concat(
    recordsOf(fixture).map(({ kind, name, data }) => {
      if (kind === 'exception')
        return frame({ ':message-type': 'exception', ':exception-type': name }, data);
      const bytes = Buffer.from(data).toString('base64');
      return eventFrame('chunk', JSON.stringify({ bytes, p: 'abcdefg' }));
    }),
  );
}

function recordsOf(fixture: Buffer): { kind: string; name: string; data: string }[] {
  const text = fixture.toString('utf8').trim();
  return text.split('\n\n').map((record) => {
    const [head = '', ...data] = record.split('\n');
    const [kind = '', name = ''] = head.split(': ');
    return { kind, name, data: data.join('\n').replace(/^data: /, '') };
  });
}
