import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '../protocol.ts';
import { type DemoItem, streamResponse, unfinished } from '../responses-stream.ts';

/** A response that is made in the background. What it will say is known at once, and is told as its time goes by. */
export interface Work {
  readonly response: JsonObject;
  readonly items: DemoItem[];
  readonly madeAtMs: number;
  readonly takesMs: number;
  /** Cancelled, or deleted. */
  isStopped: boolean;
}

/** It is begun after a third of it. */
const usualMs = 1500;
const waitMs = 50;
/** What is told while it is queued: that it was made, and that it waits. */
const eventsQueued = 2;

/** @param asked what the model's name asks for: 0 = nothing */
export function takesMs(
  { response, items }: Pick<Work, 'response' | 'items'>,
  asked: { delayMs: number; eventDelayMs: number },
): number {
  const least = asked.delayMs === 0 ? usualMs : asked.delayMs;
  if (asked.eventDelayMs === 0) return least;
  return Math.max(least, [...streamResponse(response, items)].length * asked.eventDelayMs);
}

/** The response as it stands. */
export function workAt({ response, isStopped, ...work }: Work, nowMs: number): JsonObject {
  if (isStopped) return unfinished(response, 'cancelled');
  const done = (nowMs - work.madeAtMs) / work.takesMs;
  if (done >= 1) return response;
  return unfinished(response, done < 1 / 3 ? 'queued' : 'in_progress');
}

/** Its events behind a number, each when its time has come; none after it was stopped. */
export async function* followWork(
  work: Work,
  startingAfter: number,
  now: () => number,
): AsyncGenerator<string> {
  const events = [...streamResponse(work.response, work.items)];
  const steps = Math.max(1, events.length - eventsQueued - 1);
  for (const [index, event] of events.entries()) {
    if (index <= startingAfter) continue;
    const share = index < eventsQueued ? 0 : 1 / 3 + ((index - eventsQueued) / steps) * (2 / 3);
    const dueMs = work.madeAtMs + work.takesMs * share;
    while (now() < dueMs && !work.isStopped) await delay(Math.min(waitMs, dueMs - now()));
    if (work.isStopped) return;
    yield event;
  }
}
