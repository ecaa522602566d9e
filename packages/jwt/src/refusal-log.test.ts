import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RefusalLog, type RefusalReport, type RefusedToken } from './refusal-log.ts';

const refused = (subject: string): RefusedToken => ({
  token: 'ey*******xx',
  reason: 'r',
  status: 401,
  subject,
  method: 'POST',
  path: '/v1/x',
  requestId: 'q',
  clientIp: '127.0.0.1',
});

let reports: RefusalReport[];
let errors: unknown[];
beforeEach(() => {
  vi.useFakeTimers();
  reports = [];
  errors = [];
});
afterEach(() => vi.useRealTimers());

const log = (over: object = {}) =>
  new RefusalLog({
    write: async (report) => void reports.push(report),
    onError: (error) => errors.push(error),
    pauseMs: 1_000,
    samplesMax: 2,
    ...over,
  });
const shape = () => reports.map(({ count, samples }) => [count, samples.length]);

describe('RefusalLog', () => {
  it('reports the first at once, and a flood after it once a pause, with its count', () => {
    const one = log();
    for (let i = 0; i < 1_000; i += 1) one.add('a', refused(`${i}`));
    expect(shape()).toEqual([[1, 1]]);
    vi.advanceTimersByTime(1_000);
    expect(shape()).toEqual([
      [1, 1],
      [999, 2],
    ]);
    one.add('a', refused('late'));
    expect(reports).toHaveLength(2);
    vi.advanceTimersByTime(1_000);
    expect(shape().at(-1)).toEqual([1, 1]);
  });

  it('counts each organisation for itself', () => {
    const one = log();
    one.add('a', refused('1'));
    one.add('b', refused('2'));
    expect(reports.map(({ organisationId }) => organisationId)).toEqual(['a', 'b']);
  });

  it('begins anew after a quiet pause, and holds no timer then', () => {
    const one = log();
    one.add('a', refused('1'));
    vi.advanceTimersByTime(1_000);
    expect(vi.getTimerCount()).toBe(0);
    one.add('a', refused('2'));
    expect(shape()).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  it('gathers for so many organisations and no more', () => {
    const one = log({ organisationsMax: 2 });
    for (const id of ['a', 'b', 'c']) one.add(id, refused(id));
    expect(reports).toHaveLength(2);
  });

  it('reports what is left when it stops, and tells of what could not be written', async () => {
    const one = log();
    one.add('a', refused('1'));
    one.add('a', refused('2'));
    await one.stop();
    expect(shape()).toEqual([
      [1, 1],
      [1, 1],
    ]);
    const failing = log({ write: () => Promise.reject(new Error('away')) });
    failing.add('a', refused('1'));
    await failing.stop();
    expect(errors).toHaveLength(1);
  });
});
