import { describe, expect, it } from 'vitest';
import { takeCallMark, withCallMark } from './call-mark.ts';

describe('our member of a trace state', () => {
  it.each([
    ['sluice=abc', 'abc', undefined],
    ['vendor=1, sluice=a=b ,other=2', 'a=b', 'vendor=1,other=2'],
    ['sluice=one,sluice=two', 'one', undefined],
    ['vendor=1,tenant@sluice=2,sluicer=3', undefined, 'vendor=1,tenant@sluice=2,sluicer=3'],
    [' , sluice=abc, ,', 'abc', undefined],
    ['sluice', '', undefined],
    ['vendor=1', undefined, 'vendor=1'],
  ])('is taken out of "%s"', (tracestate, mark, left) => {
    const headers: Record<string, string> = { tracestate };
    expect(takeCallMark(headers)).toBe(mark);
    expect(headers.tracestate).toBe(left);
  });

  it('stands before what others have written', () => {
    expect(withCallMark('vendor=1', 'abc')).toBe('sluice=abc,vendor=1');
    expect(withCallMark(undefined, 'abc')).toBe('sluice=abc');
    // Of more than 32 members, or 512 characters, OpenTelemetry passes none on.
    const many = Array.from({ length: 40 }, (_, at) => `v${at}=1`).join(',');
    expect(withCallMark(many, 'abc').split(',')).toHaveLength(32);
    const long = `a=${'1'.repeat(300)},b=${'2'.repeat(300)},c=3`;
    expect(withCallMark(long, 'abc')).toBe(`sluice=abc,a=${'1'.repeat(300)}`);
  });
});
