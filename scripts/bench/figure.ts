/** One line of the table for one subject. */
export interface Figure {
  subject: string;
  figure: string;
  unit: 'µs' | 'ms' | 'kB' | 'MB' | 's' | 'RPS';
  measured: number;
  /** The bare proxy's value in the same run; absent for the bare proxy itself. */
  bare?: number;
  /** The median ratio of neighbouring rounds, where there are enough of them; else measured / bare. Beside what, `note` says if it is not the bare proxy. */
  pairedRatio?: number;
  /** What `target` is about: the value, or the ratio to the bare proxy. */
  judged?: 'measured' | 'ratio';
  /** `<=` for all but throughput. */
  target?: number;
  /** Every round, for the JSON file. */
  rounds?: readonly number[];
  note?: string;
}

export function ratioOf({ measured, bare, pairedRatio }: Figure): number | undefined {
  if (pairedRatio !== undefined) return pairedRatio;
  return bare === undefined || bare <= 0 ? undefined : measured / bare;
}

/** `undefined` when the figure has no target or was not compared. */
export function isMet(figure: Figure): boolean | undefined {
  const value = figure.judged === 'ratio' ? ratioOf(figure) : figure.measured;
  if (figure.target === undefined || value === undefined) return undefined;
  return figure.unit === 'RPS' ? value >= figure.target : value <= figure.target;
}

/** So far from 1 the ratios of two equal proxies may be. */
const selfCheckMax = 0.05;

/**
 * Whether the machine was quiet enough for the ratios of a run, by those of a
 * second bare proxy; undefined = there was none, or no ratio of it is judged.
 */
export function selfCheckText(figures: readonly Figure[], second: string): string | undefined {
  const errors = figures
    .filter(({ subject, judged }) => subject === second && judged === 'ratio')
    .map((figure) => ({ name: figure.figure, error: Math.abs((ratioOf(figure) ?? 0) - 1) }))
    .sort((one, other) => other.error - one.error);
  const [worst] = errors;
  if (worst === undefined) return undefined;
  const percent = `${Math.round(worst.error * 1000) / 10} %`;
  return worst.error <= selfCheckMax
    ? `Self-check: two equal proxies differed by ${percent} at most. The machine was quiet enough.`
    : `Self-check FAILED: two equal proxies differed by ${percent} (${worst.name}). The machine was not quiet enough: ratios may be as wrong.`;
}

export function renderTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const ratio = ratioOf(figure);
    const met = isMet(figure);
    return [
      figure.subject,
      figure.figure,
      targetText(figure),
      `${round(figure.measured)} ${figure.unit}`,
      figure.bare === undefined ? '' : `${round(figure.bare)} ${figure.unit}`,
      ratio === undefined ? '' : `${ratio.toFixed(2)} ×`,
      met === undefined ? '' : met ? 'met' : 'MISSED',
      figure.note ?? '',
    ];
  });
  const table = [
    ['subject', 'figure', 'target', 'measured', 'bare proxy', 'ratio', '', ''],
    ...rows,
  ];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return [
    line(table[0]!),
    widths
      .map((width) => '─'.repeat(width))
      .join('  ')
      .trimEnd(),
    ...table.slice(1).map(line),
  ].join('\n');
}

function targetText({ target, unit, judged }: Figure): string {
  if (target === undefined) return '';
  const bound = unit === 'RPS' ? '≥' : '≤';
  if (judged === 'ratio') return `${bound} ${target} ×`;
  return `${bound} ${target.toLocaleString('en')} ${unit}`;
}

function round(value: number): string {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en');
  return value.toFixed(Math.abs(value) >= 100 ? 0 : 2);
}
