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
