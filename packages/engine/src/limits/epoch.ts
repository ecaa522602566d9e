import {
  type Counter,
  counterName,
  type Epoch,
  type GroupReset,
  type NamedEpoch,
} from './limit.ts';
import { type Period, periodAt } from './period.ts';
import { type RateUnit, windowMs, windowOffsetMs } from './windows.ts';

/** Where a counter is at a time: told anew when its epoch is another. */
export function epochOf(counter: Counter, nowMs: number): NamedEpoch {
  const { last } = counter;
  if (last !== undefined && nowMs >= last.epoch.startMs && isBefore(nowMs, last.epoch)) return last;
  const epoch = epochAt(counter, nowMs);
  const named = { epoch, name: counterName(counter, epoch.name) };
  counter.last = named;
  return named;
}

function isBefore(nowMs: number, { endMs }: Epoch): boolean {
  return endMs === 0 || nowMs < endMs;
}

/** Of a counter, at a time. */
export function epochAt({ limit, reset }: Counter, nowMs: number): Epoch {
  const { span } = limit;
  return span.kind === 'rate'
    ? windowEpoch(span.unit, nowMs)
    : periodEpoch(span.period, nowMs, reset);
}

/** Rates: the windows of a unit, by their numbers. */
export function windowEpoch(unit: RateUnit, nowMs: number): Epoch {
  const length = windowMs[unit];
  const offset = windowOffsetMs(unit);
  const number = Math.floor((nowMs + offset) / length);
  const startMs = number * length - offset;
  return { name: String(number), startMs, endMs: startMs + length };
}

function periodEpoch(period: Period, nowMs: number, reset: GroupReset | undefined): Epoch {
  const { generation, startedAtMs, nextResetAtMs } = periodAt(period, nowMs);
  const more = reset?.periodStartMs === startedAtMs ? reset.generation : 0;
  return {
    name: `${generation + more}.${startedAtMs}`,
    startMs: startedAtMs,
    endMs: nextResetAtMs,
  };
}
