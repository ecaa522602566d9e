import { eventually } from '@sluice/testkit';
import { expect } from 'vitest';
import type { Trial } from '../lab.ts';
import {
  endingError,
  hasTerminator,
  type StreamRoad,
  stream,
  streamRoads,
  textOf,
} from '../vendor-replies.ts';
import { answered, type Fault, fallback, record } from './fault.ts';

/**
 * Streams that do not end as they should, in both formats, native and
 * translated. Before the first word another target answers; after it, what
 * came is the caller's, closed by the format's own error event.
 */
export const brokenStreams: readonly Fault[] = [
  {
    name: 'stream cut',
    async run(trial) {
      for (const road of streamRoads) {
        const events = road.events('Hel', 'lo');
        const cutAfter = road.eventsToFirstText;
        const cut = stream(events, { cutAfter });
        const upstream = await trial.upstream('first', cut);
        await breaksOff(trial, road, upstream.target({ provider: road.provider }), {
          code: 'upstream.stream_cut',
          sent: events.slice(0, cutAfter),
        });
      }
      await anotherAnswers(trial, { code: 'upstream.stream_cut', status: 502 }, (road) =>
        stream(road.events('Hello'), { cutAfter: 1 }),
      );
    },
  },
  {
    name: 'stream stall',
    async run(trial) {
      for (const road of streamRoads) {
        const events = road.events('Hel', 'lo');
        const stallAfter = road.eventsToFirstText;
        const upstream = await trial.upstream('first', stream(events, { stallAfter }));
        const target = upstream.target({ provider: road.provider, idle_timeout: 400 });
        await breaksOff(trial, road, target, {
          code: 'upstream.stream_stalled',
          sent: events.slice(0, stallAfter),
        });
        await eventually(() => upstream.requests[0]?.aborted === true);
      }
      await anotherAnswers(
        trial,
        { code: 'upstream.stream_stalled', status: 504 },
        (road) => stream(road.events('Hello'), { stallAfter: 1 }),
        { idle_timeout: 400 },
      );
    },
  },
  {
    name: 'malformed chunk',
    async run(trial) {
      const broken = 'data: {"choices":[{"delta":{"content":"lo"\n\n';
      for (const road of streamRoads) {
        const whole = road.events('Hel', 'lo');
        const events = whole.with(road.eventsToFirstText, broken);
        const upstream = await trial.upstream('first', stream(events));
        const target = upstream.target({ provider: road.provider });
        // What is passed on as it came is not judged; its terminal event decides.
        if (road.isNative) await passesWhole(trial, road, target, events);
        else
          await breaksOff(trial, road, target, {
            code: 'upstream.invalid_response',
            sent: undefined,
          });
      }
      await anotherAnswers(trial, { code: 'upstream.invalid_response', status: 502 }, () =>
        stream([broken]),
      );
    },
  },
  {
    name: 'no terminator',
    async run(trial) {
      for (const road of streamRoads) {
        const events = road.events('Hel', 'lo').slice(0, road.eventsToFirstText + 1);
        const upstream = await trial.upstream('first', stream(events));
        await breaksOff(trial, road, upstream.target({ provider: road.provider }), {
          code: 'upstream.stream_cut',
          sent: events,
        });
      }
      await anotherAnswers(trial, { code: 'upstream.stream_cut', status: 502 }, (road) =>
        stream(road.events('Hello').slice(0, 1)),
      );
    },
  },
];

/** Content came, then the fault: a status of 200, the error event, no terminator, no second call. */
async function breaksOff(
  trial: Trial,
  road: StreamRoad,
  target: object,
  fault: { code: string; sent: readonly string[] | undefined },
): Promise<void> {
  const { answer, calls, records, rawRecords } = await trial.ask({
    label: road.name,
    // Nothing is retried and no other target asked once the caller has content.
    config: fallback([{ ...target, retry: { attempts: 2 } }, target]),
    path: road.path,
    body: road.body,
    records: 1,
  });
  expect(answer.status, road.name).toBe(200);
  expect(answer.headers.get('content-type'), road.name).toMatch(/^text\/event-stream/);
  expect(textOf(answer.text), road.name).toMatch(/^Hel/);
  expect(endingError(answer.text), road.name).toBe(fault.code);
  expect(hasTerminator(answer.text), road.name).toBe(false);
  if (road.callerFormat === 'anthropic') expect(answer.text).toContain('event: error\n');
  if (road.isNative && fault.sent !== undefined) {
    const sent = fault.sent.join('');
    expect(answer.text.slice(0, sent.length), road.name).toBe(sent);
  }
  expect(answer.own('last-used-option-index'), road.name).toBe('config.targets[0]');
  expect(answer.own('retry-attempt-count'), road.name).toBe('0');
  expect(calls, road.name).toEqual(['first']);
  const [charged] = rawRecords;
  const isReported = charged?.usageEstimated === false;
  expect(records, road.name).toEqual([
    record(
      'config.targets[0]',
      'PARTIAL',
      200,
      fault.code,
      isReported ? { tokens: [1000, 1], costNanoUsd: 3_015_000 } : {},
    ),
  ]);
  // Anthropic reports the input at the start of a stream, OpenAI everything at its end: the rest is estimated.
  if (road.provider === 'anthropic') expect(charged?.inputTokens, road.name).toBe(1000n);
  expect(Number(charged?.outputTokens), road.name).toBeGreaterThan(0);
  expect(Number(charged?.outputTokens), road.name).toBeLessThan(8);
}

async function passesWhole(
  trial: Trial,
  road: StreamRoad,
  target: object,
  events: readonly string[],
): Promise<void> {
  const { answer, records } = await trial.ask({
    label: road.name,
    config: target,
    path: road.path,
    body: road.body,
    records: 1,
  });
  expect(answer.text, road.name).toBe(events.join(''));
  expect(records, road.name).toEqual([
    answered('config', road.provider === 'anthropic' ? { costNanoUsd: 10_500_000 } : {}),
  ]);
}

/** The fault came before any content: the second target answers, and the caller sees only that. */
async function anotherAnswers(
  trial: Trial,
  fault: { code: string; status: number },
  replyOf: (road: StreamRoad) => ReturnType<typeof stream>,
  over: object = {},
): Promise<void> {
  const native = streamRoads.filter((road) => road.isNative);
  for (const road of native) {
    const first = await trial.upstream('first', replyOf(road));
    const second = await trial.upstream('second', stream(road.events('Hello')));
    const { provider } = road;
    const { answer, calls, records } = await trial.ask({
      label: `${provider}, before content`,
      config: fallback([first.target({ provider, ...over }), second.target({ provider })]),
      path: road.path,
      body: road.body,
      records: 2,
    });
    expect(answer.status, provider).toBe(200);
    expect(answer.text, provider).toBe(road.events('Hello').join(''));
    expect(answer.own('last-used-option-index'), provider).toBe('config.targets[1]');
    expect(calls, provider).toEqual(['first', 'second']);
    expect(records[0], provider).toMatchObject({
      path: 'config.targets[0]',
      outcome: 'UPSTREAM_FAILURE',
      status: fault.status,
      code: fault.code,
    });
    expect(records[1], provider).toMatchObject({
      path: 'config.targets[1]',
      outcome: 'SUCCESS',
      attempt: 1,
      tokens: [1000, 500],
    });
    expect(records, provider).toHaveLength(2);
  }
}
