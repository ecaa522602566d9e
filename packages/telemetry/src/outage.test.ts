import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Logger } from './logger.ts';
import { Outage, reasonOf, sparingOutages } from './outage.ts';

function log() {
  const lines: unknown[][] = [];
  const levels = ['debug', 'info', 'warn', 'error'].map((level) => [
    level,
    (...said: unknown[]) => lines.push([level, ...said]),
  ]);
  return { lines, logger: Object.fromEntries(levels) as Logger };
}

describe('Outage', () => {
  afterEach(() => void vi.useRealTimers());

  it('is said once with the reason, and once that it is over and how long it was', () => {
    const { lines, logger } = log();
    const outage = new Outage({ logger, away: 'it is away', back: 'it is back', facts: { at: 1 } });
    outage.ends();
    for (const _ of [1, 2, 3]) expect(outage.explains(new Error('refused'))).toBe(true);
    outage.ends();
    outage.ends();
    expect(lines).toEqual([
      ['warn', { at: 1, reason: 'refused' }, 'it is away'],
      ['info', { at: 1, away_ms: expect.any(Number) }, 'it is back'],
    ]);
  });

  it('explains what it caused, and nothing else', () => {
    const { lines, logger } = log();
    const isOutage = (error: unknown) => (error as { code?: string }).code === 'GONE';
    const outage = new Outage({ logger, away: 'away', back: 'back', isOutage });
    expect(outage.explains(new TypeError('ours'))).toBe(false);
    expect(outage.explains(undefined)).toBe(false);
    expect(lines).toEqual([]);
    const gone = Object.assign(new Error('gone'), { code: 'GONE' });
    expect(outage.explains(new Error('around it', { cause: gone }))).toBe(true);
    expect(lines).toEqual([['warn', { reason: 'gone' }, 'away']]);
  });

  it('is over when nothing failed for a while, where nobody is asked', async () => {
    vi.useFakeTimers();
    const { lines, logger } = log();
    const outage = new Outage({ logger, away: 'busy', back: 'not busy', quietMs: 5000 });
    outage.explains(new Error('no room'));
    await vi.advanceTimersByTimeAsync(4000);
    outage.explains(new Error('no room'));
    await vi.advanceTimersByTimeAsync(4900);
    expect(outage.isOn).toBe(true);
    await vi.advanceTimersByTimeAsync(1100);
    expect(outage.isOn).toBe(false);
    expect(lines.map(([level]) => level)).toEqual(['warn', 'info']);
  });

  it('asks until there is an answer', async () => {
    vi.useFakeTimers();
    const { lines, logger } = log();
    let answers = false;
    const probe = async () => {
      if (!answers) throw new Error('still away');
    };
    const outage = new Outage({ logger, away: 'away', back: 'back', probe });
    outage.begins('gone');
    await vi.advanceTimersByTimeAsync(5000);
    expect(outage.isOn).toBe(true);
    answers = true;
    await vi.advanceTimersByTimeAsync(1000);
    expect(outage.isOn).toBe(false);
    expect(lines.map(([level]) => level)).toEqual(['warn', 'info']);
    outage.stop();
    outage.begins('gone');
    outage.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is no second one when what began in it fails after its return, unless nobody answers', async () => {
    vi.useFakeTimers();
    const { lines, logger } = log();
    let answers = true;
    const probe = async () => {
      if (!answers) throw new Error('still away');
    };
    const outage = new Outage({ logger, away: 'away', back: 'back', probe });
    outage.begins('gone');
    await vi.advanceTimersByTimeAsync(1000);
    const levels = () => lines.map(([level]) => level);
    expect(levels()).toEqual(['warn', 'info']);
    for (const _ of [1, 2]) expect(outage.explains(new Error('late'))).toBe(true);
    await vi.advanceTimersByTimeAsync(1000);
    expect(levels()).toEqual(['warn', 'info']);
    answers = false;
    outage.begins('gone again');
    outage.begins('gone again');
    await vi.advanceTimersByTimeAsync(0);
    expect(lines.slice(2)).toEqual([['warn', { reason: 'gone again' }, 'away']]);
    answers = true;
    await vi.advanceTimersByTimeAsync(1000);
    await vi.advanceTimersByTimeAsync(60_001);
    // So long after it nothing that fails is of it.
    outage.begins('gone');
    expect(levels()).toEqual(['warn', 'info', 'warn', 'info', 'warn']);
    outage.stop();
    // Of what is stopped in doubt nothing is said.
    outage.begins('gone');
    await vi.advanceTimersByTimeAsync(1000);
    answers = false;
    outage.begins('late');
    outage.stop();
    await vi.advanceTimersByTimeAsync(1000);
    expect(levels().slice(5)).toEqual(['warn', 'info']);
  });
});

it('says the last line of what an error says, of several addresses the first, and then the cause', () => {
  expect(reasonOf(new Error('\nInvalid `x` invocation:\n\n\nCan’t reach it'))).toBe(
    'Can’t reach it',
  );
  const refused = new Error('connect ECONNREFUSED 127.0.0.1:1');
  expect(reasonOf(new AggregateError([refused], ''))).toBe('connect ECONNREFUSED 127.0.0.1:1');
  expect(reasonOf(Object.assign(new Error(''), { code: 'EPIPE' }))).toBe('EPIPE');
  expect(reasonOf('text')).toBe('text');
  expect(reasonOf(new Error('It is not there.', { cause: refused }))).toBe(
    'It is not there: connect ECONNREFUSED 127.0.0.1:1',
  );
});

describe('sparingOutages', () => {
  it('leaves out warnings of an outage, and stacks where something is lost by it', () => {
    const { lines, logger } = log();
    const away = new Error('away');
    const sparing = sparingOutages(logger, (error) => error === away);
    sparing.info({ err: away }, 'told');
    sparing.warn({ err: away, of: 1 }, 'tried again');
    sparing.error({ err: away, of: 1 }, 'lost');
    expect(lines).toEqual([
      ['info', { err: away }, 'told'],
      ['debug', { of: 1, reason: 'away' }, 'tried again'],
      ['error', { of: 1, reason: 'away' }, 'lost'],
    ]);
  });

  it('leaves everything else as it is', () => {
    const { lines, logger } = log();
    const sparing = sparingOutages(logger, () => false);
    const err = new Error('ours');
    sparing.warn({ err }, 'a fault');
    sparing.error({ err }, 'a fault');
    sparing.warn('a sentence alone');
    expect(lines).toEqual([
      ['warn', { err }, 'a fault'],
      ['error', { err }, 'a fault'],
      ['warn', 'a sentence alone', undefined],
    ]);
  });
});
