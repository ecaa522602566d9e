import { GatewayError } from '@sluice/errors';
import { usage } from '@sluice/proto-stubs';
import type { StreamFault, StreamReader } from '@sluice/providers';
import { describe, expect, it } from 'vitest';
import type { OngoingAttempt } from '../ongoing-attempt.ts';
import type { ReplyConsumer, UpstreamCall } from '../upstream-call.ts';
import { streamReply } from './stream-reply.ts';

const { Outcome } = usage;

/** Reads the script's own words: what a chunk says is what the reader finds in it. */
class ScriptedReader implements StreamReader {
  phase: StreamReader['phase'] = 'preamble';
  facts = {};
  fault: StreamFault | undefined;
  faultForwarded = false;
  /** What the last bytes turn out to be, which no blank line ended. */
  atEnd: 'overloaded' | 'garbage' | undefined;

  push(chunk: Buffer): Buffer {
    const text = chunk.toString();
    if (text.startsWith('content')) this.phase = 'content';
    if (text.startsWith('done')) this.phase = 'complete';
    if (text.startsWith('overloaded')) this.#fail('overloaded_error', 529, true);
    if (text.startsWith('garbage')) this.#fail('invalid_stream', 502, false);
    return chunk;
  }
  end(): Buffer {
    if (this.atEnd !== undefined) this.push(Buffer.from(this.atEnd));
    return Buffer.alloc(0);
  }
  errorEvent(fault: StreamFault & { code?: string }): Buffer {
    return Buffer.from(`[error ${fault.code}]`);
  }
  #fail(type: string, status: number, forwarded: boolean): void {
    this.phase = 'failed';
    this.fault = { type, message: type, status };
    this.faultForwarded = forwarded;
  }
}

function start(options: { passesOverload?: boolean; isJudged?: boolean } = {}) {
  let consumer: ReplyConsumer | undefined;
  const calls: string[] = [];
  const records: [number, number, string][] = [];
  const call = {
    status: 200,
    consume: (given: ReplyConsumer) => (consumer = given),
    resume: () => calls.push('resume'),
    abort: (error: GatewayError) => calls.push(`abort ${error.code}`),
  } as unknown as UpstreamCall;
  const attempt = {
    call: { isJudged: options.isJudged === true },
    finishNow: (outcome: number, status: number, code: string) => {
      if (records.length === 0) records.push([outcome, status, code]);
    },
  } as unknown as OngoingAttempt;
  const reader = new ScriptedReader();
  const { committed, pipeTo, discard, conclude } = streamReply({
    call,
    reader,
    splice: undefined,
    attempt,
    passesOverload: options.passesOverload === true,
  });
  if (consumer === undefined) throw new Error('the stream was not consumed');
  return {
    upstream: consumer,
    reader,
    push: (text: string) => (consumer as ReplyConsumer).data(Buffer.from(text)),
    calls,
    records,
    pipeTo,
    discard,
    conclude,
    /** `committed`, or the code it failed with; `waiting` while it is neither. */
    state: () =>
      Promise.race([
        committed.then(
          () => 'committed',
          (error: GatewayError) => `${error.code} ${error.status}`,
        ),
        new Promise<string>((resolve) => setImmediate(resolve, 'waiting')),
      ]),
  };
}

/** A caller that takes bytes until told otherwise. */
function caller() {
  const written: string[] = [];
  let listener = () => {};
  return {
    written,
    takesMore: true,
    ended: false,
    wasCut: false,
    drain: () => listener(),
    write(chunk: Buffer) {
      written.push(chunk.toString());
      return this.takesMore;
    },
    onDrain(given: () => void) {
      listener = given;
    },
    end() {
      this.ended = true;
    },
    cut() {
      this.wasCut = true;
    },
  };
}

describe('streamReply', () => {
  it('commits at the first content, and loses nothing that came before', async () => {
    const stream = start();
    stream.push('role ');
    expect(await stream.state()).toBe('waiting');
    stream.push('content ');
    expect(await stream.state()).toBe('committed');
    const sink = caller();
    stream.pipeTo(sink);
    stream.push('done');
    stream.upstream.end();
    expect(sink.written.join('')).toBe('role content done');
    expect(sink.ended).toBe(true);
    expect(stream.records).toEqual([[Outcome.SUCCESS, 200, '']]);
  });

  it('a preamble without end is passed on, not held and waited for', async () => {
    const stream = start();
    let wantsMore = true;
    for (let index = 0; wantsMore && index < 1000; index++)
      wantsMore = stream.push('x'.repeat(1000));
    expect(wantsMore).toBe(false);
    expect(await stream.state()).toBe('committed');
    const sink = caller();
    stream.pipeTo(sink);
    expect(stream.calls).toEqual(['resume']);
    expect(sink.written.join('').length).toBeGreaterThan(250_000);
  });

  it.each([
    ['an overloaded provider', 'overloaded', 'upstream.error 529', Outcome.UPSTREAM_ERROR],
    ['garbage', 'garbage', 'upstream.invalid_response 502', Outcome.UPSTREAM_FAILURE],
  ])('%s before content is an ordinary error', async (_name, text, state, outcome) => {
    const stream = start();
    stream.push(text);
    expect(await stream.state()).toBe(state);
    expect(stream.calls).toEqual([`abort ${state.split(' ')[0]}`]);
    expect(stream.records.map(([first]) => first)).toEqual([outcome]);
  });

  it.each([
    ['overloaded', 'upstream.error 529', Outcome.UPSTREAM_ERROR],
    ['garbage', 'upstream.invalid_response 502', Outcome.UPSTREAM_FAILURE],
  ] as const)(
    '%s, told by the last bytes before any content, is an ordinary error',
    async (...row) => {
      const [atEnd, state, outcome] = row;
      const stream = start();
      stream.reader.atEnd = atEnd;
      stream.upstream.end();
      expect(await stream.state()).toBe(state);
      expect(stream.records.map(([first]) => first)).toEqual([outcome]);
    },
  );

  it('garbage that its last bytes are after content is told as such', () => {
    const stream = start();
    stream.push('content');
    stream.reader.atEnd = 'garbage';
    const sink = caller();
    stream.pipeTo(sink);
    stream.upstream.end();
    expect(sink.written.join('')).toBe('content[error upstream.invalid_response]');
    expect(stream.records).toEqual([[Outcome.PARTIAL, 200, 'upstream.invalid_response']]);
  });

  it.each(['upstream.stream_cut', 'upstream.stream_stalled'] as const)(
    'what is behind the end of a stream is no part of it: %s',
    (code) => {
      const stream = start();
      stream.push('content');
      const sink = caller();
      stream.pipeTo(sink);
      stream.push('done');
      stream.upstream.fail(new GatewayError(code));
      expect(sink.written.join('')).toBe('contentdone');
      expect(sink.ended).toBe(true);
      expect(stream.records).toEqual([[Outcome.SUCCESS, 200, '']]);
    },
  );

  it('an overloaded provider is the caller’s to read when it is not looked for', async () => {
    const stream = start({ passesOverload: true });
    stream.push('overloaded');
    expect(await stream.state()).toBe('committed');
    const sink = caller();
    stream.pipeTo(sink);
    stream.upstream.end();
    expect(sink.written.join('')).toBe('overloaded');
    expect(stream.records).toEqual([[Outcome.PARTIAL, 200, 'upstream.error']]);
  });

  it('other faults before content stay errors then', async () => {
    const stream = start({ passesOverload: true });
    stream.push('garbage');
    expect(await stream.state()).toBe('upstream.invalid_response 502');
  });

  it('one that nobody will read is let go', () => {
    const stream = start();
    stream.push('content');
    stream.discard();
    expect(stream.calls).toEqual(['abort request.superseded']);
    expect(stream.records).toEqual([[Outcome.CALLER_GONE, 200, 'request.superseded']]);
  });

  it('a cut before content is an ordinary error', async () => {
    const stream = start();
    stream.push('role');
    stream.upstream.fail(new GatewayError('upstream.stream_cut'));
    expect(await stream.state()).toBe('upstream.stream_cut 502');
    expect(stream.records).toEqual([[Outcome.UPSTREAM_FAILURE, 502, 'upstream.stream_cut']]);
  });

  it.each([
    ['a cut', 'upstream.stream_cut', '[error upstream.stream_cut]', Outcome.PARTIAL],
    ['a stall', 'upstream.stream_stalled', '[error upstream.stream_stalled]', Outcome.PARTIAL],
    ['a caller gone', 'request.aborted', '', Outcome.CALLER_GONE],
  ] as const)(
    '%s after content ends the stream as its format says',
    async (_name, code, event, outcome) => {
      const stream = start();
      stream.push('content');
      const sink = caller();
      stream.pipeTo(sink);
      stream.upstream.fail(new GatewayError(code));
      expect(sink.written.join('')).toBe(`content${event}`);
      expect(sink.ended).toBe(true);
      expect(stream.records).toEqual([[outcome, 200, code]]);
    },
  );

  it('an end without the terminal event is a cut', () => {
    const stream = start();
    stream.push('content');
    const sink = caller();
    stream.pipeTo(sink);
    stream.upstream.end();
    expect(sink.written.join('')).toBe('content[error upstream.stream_cut]');
    expect(stream.records).toEqual([[Outcome.PARTIAL, 200, 'upstream.stream_cut']]);
  });

  it('a fault between commit and the caller’s side is told once that is there', () => {
    const stream = start();
    stream.push('content');
    stream.upstream.fail(new GatewayError('upstream.stream_cut'));
    const sink = caller();
    stream.pipeTo(sink);
    expect(sink.written.join('')).toBe('content[error upstream.stream_cut]');
    expect(sink.ended).toBe(true);
  });

  it('one that is judged is a success once it has passed', () => {
    const stream = start({ isJudged: true });
    stream.push('content');
    stream.pipeTo(caller());
    stream.push('done');
    stream.upstream.end();
    expect(stream.records).toEqual([]);
    expect(stream.conclude(undefined).length).toBe(0);
    expect(stream.records).toEqual([[Outcome.SUCCESS, 200, '']]);
  });

  it.each([
    ['before its end', false],
    ['when all of it has come', true],
  ])('one that is denied %s ends the call, and is told as its format says', (_name, isWhole) => {
    const stream = start({ isJudged: true });
    stream.push('content');
    const sink = caller();
    stream.pipeTo(sink);
    if (isWhole) stream.push('done');
    const denied = new GatewayError('guardrail.denied');
    expect(stream.conclude(denied).toString()).toBe('[error guardrail.denied]');
    expect(stream.calls.at(-1)).toBe('abort guardrail.denied');
    expect(stream.records).toEqual([[Outcome.DENIED, 200, 'guardrail.denied']]);
    // What the abort brings about is heard by nobody.
    stream.upstream.fail(denied);
    expect(sink.ended).toBe(false);
  });

  it('one that is judged and breaks off is what it was', () => {
    const stream = start({ isJudged: true });
    stream.push('content');
    stream.pipeTo(caller());
    stream.upstream.end();
    stream.conclude(undefined);
    expect(stream.records).toEqual([[Outcome.PARTIAL, 200, 'upstream.stream_cut']]);
  });

  it('the provider’s own error event is passed on, without one of ours', () => {
    const stream = start();
    stream.push('content');
    const sink = caller();
    stream.pipeTo(sink);
    stream.push('overloaded');
    stream.upstream.end();
    expect(sink.written.join('')).toBe('contentoverloaded');
    expect(stream.records).toEqual([[Outcome.PARTIAL, 200, 'upstream.error']]);
  });

  it('a slow caller pauses the provider and resumes it', () => {
    const stream = start();
    stream.push('content');
    const sink = caller();
    sink.takesMore = false;
    stream.pipeTo(sink);
    expect(stream.calls).toEqual([]);
    expect(stream.push('content')).toBe(false);
    sink.drain();
    expect(stream.calls).toEqual(['resume']);
  });
});
