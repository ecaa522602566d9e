import { describe, expect, it } from 'vitest';
import { CallMarks } from './call-marks.ts';

const marks = new CallMarks('secret');

describe('marks of calls', () => {
  it('hold the sums in their order, and fit into a trace state', () => {
    const sums = Array.from({ length: 10 }, () => marks.newSum());
    expect(marks.open('org', marks.seal('org', sums.slice(0, 2)))).toEqual(sums.slice(0, 2));
    const deepest = marks.seal('org', sums);
    expect(marks.open('org', deepest)).toEqual(sums.slice(0, 8));
    expect(deepest.length).toBeLessThanOrEqual(256 - 'sluice='.length);
  });

  it('are worth nothing when another made or changed them, to another organisation, and after a week', () => {
    let now = 1_700_000_000_000;
    const timed = new CallMarks('secret', () => now);
    const mark = timed.seal('org', [timed.newSum()]);
    expect(timed.open('another', mark)).toEqual([]);
    expect(new CallMarks('another secret').open('org', mark)).toEqual([]);
    for (let at = 0; at < mark.length; at++) {
      const changed = mark.slice(0, at) + (mark[at] === 'A' ? 'B' : 'A') + mark.slice(at + 1);
      const opened = timed.open('org', changed);
      // The last letter has bits that stand for nothing.
      if (Buffer.from(changed, 'base64url').equals(Buffer.from(mark, 'base64url'))) continue;
      expect(opened).toEqual([]);
    }
    for (const forged of ['', 'a'.repeat(64), mark.slice(0, -4), `${mark}AAAA`, 'ü'.repeat(60)])
      expect(timed.open('org', forged)).toEqual([]);
    now += 6 * 86_400_000;
    expect(timed.open('org', mark)).toHaveLength(1);
    now += 2 * 86_400_000;
    expect(timed.open('org', mark)).toEqual([]);
  });
});
