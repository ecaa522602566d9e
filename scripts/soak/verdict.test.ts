import { describe, expect, it } from 'vitest';
import type { Sample } from './soak.ts';
import { verdictOf } from './verdict.ts';

const run = (change: (minute: number) => Partial<Sample>): Sample[] =>
  Array.from({ length: 30 }, (_, minute) => ({
    atS: minute * 60 + 60,
    rssMb: 150 + (minute % 3),
    heapMb: 40,
    handles: 70,
    resources: { Timeout: 20, TCPSocketWrap: 60 },
    requests: 30_000,
    p99Ms: 3,
    warnings: 0,
    ...change(minute),
  }));

describe('an hour of load', () => {
  it('passes when what is held comes and goes', () => {
    const { faults, sentence } = verdictOf(
      run((minute) => ({ rssMb: minute < 10 ? 90 + minute * 8 : 160 + (minute % 5) })),
      600,
    );
    expect(faults).toEqual([]);
    expect(sentence).toContain('900,000 requests');
  });

  it.each<[string, (minute: number) => Partial<Sample>]>([
    ['RSS', (minute) => ({ rssMb: 150 + minute })],
    ['handles', (minute) => ({ handles: 70 + minute * 3 })],
    ['Timeout', (minute) => ({ resources: { Timeout: 20 + minute * 3, TCPSocketWrap: 60 } })],
    ['warnings', (minute) => ({ warnings: minute > 20 ? 1 : 0 })],
  ])('fails when %s grows', (what, change) => {
    const { faults } = verdictOf(run(change), 600);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(what);
  });

  it('fails when it was too short to tell', () => {
    expect(verdictOf(run(() => ({})).slice(0, 5), 600).faults).toEqual(['too short to tell']);
  });
});
