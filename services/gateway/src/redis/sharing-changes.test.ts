import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SharingChanges } from './sharing-changes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open() {
  const lines: object[] = [];
  const note = (level: string) => (facts: object) => void lines.push({ level, ...facts });
  const logger = { error: note('error'), info: note('info') } as never;
  return { lines, changes: new SharingChanges(logger) };
}

it('tells what changes at about the same time in one line', () => {
  const { lines, changes } = open();
  changes.alone('sticky', 'late');
  changes.alone('limits', 'late');
  vi.advanceTimersByTime(150);
  changes.alone('cache', 'lost');
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(100);
  const alone = { level: 'error', reason: 'late; lost', parts: ['cache', 'limits', 'sticky'] };
  expect(lines).toEqual([alone]);
  changes.again('sticky', 700.4);
  changes.again('cache', 900);
  vi.advanceTimersByTime(250);
  expect(lines).toEqual([alone, { level: 'info', away_ms: 900, parts: ['cache', 'sticky'] }]);
});

it('tells every change, in their order, and what is left when it is to end', () => {
  const { lines, changes } = open();
  changes.alone('limits', 'lost');
  changes.again('limits', 20);
  changes.alone('limits', 'lost');
  changes.tell();
  vi.advanceTimersByTime(1000);
  expect(lines).toMatchObject([{ level: 'error' }, { level: 'info' }, { level: 'error' }]);
});

it('tells of a Redis that is late again and again that it is, and that it is back when it stayed', () => {
  const { lines, changes } = open();
  const away = { level: 'error', reason: 'late', parts: ['limits'] };
  // Once away and back, as any outage; then a minute on the edge of its time, twice a second.
  for (let turn = 0; turn < 120; turn += 1) {
    changes.alone('limits', 'late');
    vi.advanceTimersByTime(250);
    changes.again('limits', 250);
    vi.advanceTimersByTime(250);
  }
  expect(lines).toEqual([away, { level: 'info', away_ms: 250, parts: ['limits'] }, away]);
  // Another part is none of this.
  changes.alone('cache', 'lost');
  vi.advanceTimersByTime(1000);
  changes.again('cache', 1000);
  vi.advanceTimersByTime(13_500);
  expect(lines.splice(3)).toEqual([
    { level: 'error', reason: 'lost', parts: ['cache'] },
    { level: 'info', away_ms: 1000, parts: ['cache'] },
  ]);
  vi.advanceTimersByTime(1000);
  expect(lines.splice(3)).toEqual([{ level: 'info', away_ms: 59_250, parts: ['limits'] }]);
  // Whoever stayed that long is away anew.
  changes.alone('limits', 'late');
  vi.advanceTimersByTime(1000);
  changes.again('limits', 1000);
  vi.advanceTimersByTime(1000);
  expect(lines.splice(3)).toEqual([away, { level: 'info', away_ms: 1000, parts: ['limits'] }]);
});

it('tells at its end that a part is back that had not stayed for long', () => {
  const { lines, changes } = open();
  for (let turn = 0; turn < 3; turn += 1) {
    changes.alone('limits', 'late');
    changes.again('limits', 20);
  }
  changes.tell();
  expect(lines.at(-1)).toMatchObject({ level: 'info', parts: ['limits'] });
  vi.advanceTimersByTime(60_000);
  expect(lines.map((line) => ('reason' in line ? 'alone' : 'again'))).toEqual([
    'alone',
    'again',
    'alone',
    'again',
  ]);
});
