import { describe, expect, it } from 'vitest';
import { type Figure, isMet, ratioOf, renderTable, selfCheckText } from './figure.ts';
import { parseFlags } from './flags.ts';

const figure = (rest: Partial<Figure>): Figure => ({
  subject: 'sluice',
  figure: 'x',
  unit: 'µs',
  measured: 100,
  ...rest,
});

describe('a figure', () => {
  it('is judged by its ratio, its value, or not at all', () => {
    expect(isMet(figure({ bare: 50, judged: 'ratio', target: 2 }))).toBe(true);
    expect(isMet(figure({ bare: 49, judged: 'ratio', target: 2 }))).toBe(false);
    expect(isMet(figure({ bare: 60, pairedRatio: 2.1, judged: 'ratio', target: 2 }))).toBe(false);
    expect(isMet(figure({ judged: 'measured', target: 99 }))).toBe(false);
    expect(isMet(figure({}))).toBeUndefined();
  });

  it('must be at least its target when it is a throughput', () => {
    expect(isMet(figure({ unit: 'RPS', measured: 8_000, judged: 'measured', target: 8_000 }))).toBe(
      true,
    );
    expect(isMet(figure({ unit: 'RPS', measured: 7_999, judged: 'measured', target: 8_000 }))).toBe(
      false,
    );
  });

  it('has no ratio to a difference that is nothing or less', () => {
    expect(ratioOf(figure({ bare: -0.1 }))).toBeUndefined();
    expect(ratioOf(figure({ bare: 0 }))).toBeUndefined();
  });

  it('of a second bare proxy tells whether the machine was quiet enough', () => {
    const of = (...ratios: number[]) =>
      ratios.map((pairedRatio) => figure({ subject: 'bare 2', pairedRatio, judged: 'ratio' }));
    expect(selfCheckText(of(1.03, 0.96), 'bare 2')).toContain('4 % at most. The machine was quiet');
    expect(selfCheckText(of(1.03, 0.94), 'bare 2')).toMatch(/FAILED: .* by 6 % \(x\)/);
    expect(selfCheckText([figure({ pairedRatio: 2, judged: 'ratio' })], 'bare 2')).toBeUndefined();
  });

  it('shows a missed target in its line of the table', () => {
    const lines = renderTable([figure({ bare: 40, judged: 'ratio', target: 2 })]).split('\n');
    expect(lines.at(-1)).toMatch(/sluice +x +≤ 2 × +100 µs +40.00 µs +2.50 × +MISSED/);
  });
});

describe('parseFlags', () => {
  it('takes another gateway with headers whose values have colons', () => {
    const flags = parseFlags([
      '--gateway-cmd',
      'run it',
      '--gateway-url',
      'http://127.0.0.1:1234/v1',
      '--gateway-header',
      'X-Host: {upstream}:1',
    ]);
    expect(flags).toMatchObject({
      other: { command: 'run it', headers: { 'x-host': '{upstream}:1' } },
    });
  });

  it.each([
    [['--only', 'unary,speed']],
    [['--gateway-cmd', 'run it']],
    [['--gateway-cmd', 'x', '--gateway-url', 'https://example.com']],
    [['--nonsense']],
  ])('refuses %j', (argv) => {
    expect(() => parseFlags(argv)).toThrow();
  });
});
