/** Milliseconds since the epoch, the end not included. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Units of so many minutes, each by the minute that it begins with, as spans in order. */
export function spansOfUnits(starts: readonly number[], widthMinutes: number): Span[] {
  return joined(
    starts
      .map((start) => ({ from: start * minuteMs, to: (start + widthMinutes) * minuteMs }))
      .sort((one, other) => one.from - other.from),
  );
}

export const minuteMs = 60_000;

/** In order; those that touch or overlap are one. */
function joined(spans: readonly Span[]): Span[] {
  const all: Span[] = [];
  for (const span of spans) {
    const last = all.at(-1);
    if (last !== undefined && span.from <= last.to)
      all[all.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    else all.push(span);
  }
  return all;
}

/** What is left of spans without others. Both in order. */
export function without(spans: readonly Span[], others: readonly Span[]): Span[] {
  return spans.flatMap(({ from, to }) => {
    const left: Span[] = [];
    let start = from;
    for (const other of others) {
      if (other.to <= start) continue;
      if (other.from >= to) break;
      if (other.from > start) left.push({ from: start, to: other.from });
      start = other.to;
    }
    if (start < to) left.push({ from: start, to });
    return left;
  });
}

/** The part of a span that is made of whole units. */
export function wholeUnits({ from, to }: Span, widthMinutes: number): Span[] {
  const width = widthMinutes * minuteMs;
  const whole = { from: Math.ceil(from / width) * width, to: Math.floor(to / width) * width };
  return whole.from < whole.to ? [whole] : [];
}

/** No more than so many: the smallest gaps are filled. */
export function atMost(spans: readonly Span[], count: number): Span[] {
  if (spans.length <= count) return [...spans];
  const gaps = spans
    .slice(1)
    .map((span, index) => span.from - spans[index]!.to)
    .sort((one, other) => other - one);
  const kept = gaps[count - 1] ?? 0;
  const all: Span[] = [];
  for (const span of spans) {
    const last = all.at(-1);
    if (last !== undefined && span.from - last.to <= kept)
      all[all.length - 1] = { from: last.from, to: span.to };
    else all.push(span);
  }
  return all;
}

/** Whether a time lies in one of the spans. */
export function inSpans(time: string, spans: readonly Span[]): string {
  const instant = (ms: number) => `fromUnixTimestamp64Milli(${ms}, 'UTC')`;
  return anyOf(
    spans.map(({ from, to }) => `(${time} >= ${instant(from)} AND ${time} < ${instant(to)})`),
  );
}

/** Whether a unit, by the minute that it begins with, touches one of the spans. */
export function startsIn(start: string, spans: readonly Span[]): string {
  return anyOf(
    spans.map(
      ({ from, to }) =>
        `(${start} >= ${Math.floor(from / minuteMs)} AND ${start} < ${Math.ceil(to / minuteMs)})`,
    ),
  );
}

function anyOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'false' : `(${conditions.join(' OR ')})`;
}
