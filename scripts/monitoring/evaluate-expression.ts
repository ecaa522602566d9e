/**
 * A strict reader of the little PromQL that our alerts and dashboards use, for
 * tests: there is no evaluator on npm, and Prometheus itself is large. What it
 * does not know is an error. Values are those of Prometheus, but that rates are
 * not extrapolated: they are by the time between the first and last sample.
 */
export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Ascending [seconds, value]; the last one is now. */
  readonly points: readonly (readonly [number, number])[];
}

export interface Result {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What an expression comes to; a comparison leaves those for which it holds. */
export function evaluateExpression(text: string, series: readonly Series[]): Result[] {
  return parse(text).read(series);
}

/** Every metric that an expression names, in its order. */
export function metricsIn(text: string): string[] {
  return parse(text).names;
}

interface Parsed {
  readonly names: string[];
  read(series: readonly Series[]): Result[];
}

function parse(text: string): Parsed {
  const tokens = text.match(/"[^"]*"|=~|[a-zA-Z_]\w*|\d+(?:\.\d+)?[smhd]?|\S/g) ?? [];
  const names: string[] = [];
  let at = 0;
  const fault = () => new Error(`unexpected ${tokens[at] ?? 'end'} in ${text}`);
  const take = (...expected: string[]): string => {
    const token = tokens[at];
    if (token === undefined || (expected.length > 0 && !expected.includes(token))) throw fault();
    at++;
    return token;
  };
  const number = () => {
    const value = Number(take());
    if (Number.isNaN(value)) throw fault();
    return value;
  };
  const listed = <T>(close: string, item: () => T): T[] => {
    const items: T[] = [];
    while (tokens[at] !== close) {
      if (items.length > 0) take(',');
      items.push(item());
    }
    take(close);
    return items;
  };

  const selector = (): ((series: readonly Series[]) => readonly Series[]) => {
    const name = take();
    if (!/^[a-zA-Z_]\w*$/.test(name)) throw fault();
    names.push(name);
    let matchers: ((series: Series) => boolean)[] = [];
    if (tokens[at] === '{') {
      take('{');
      matchers = listed('}', () => {
        const label = take();
        const operator = take('=', '=~');
        const value = take().slice(1, -1);
        const pattern = new RegExp(`^(?:${value})$`);
        return ({ labels }) => {
          const found = labels[label] ?? '';
          return operator === '=~' ? pattern.test(found) : found === value;
        };
      });
    }
    return (series) =>
      series.filter((each) => each.name === name && matchers.every((matches) => matches(each)));
  };

  const rate = () => {
    take('(');
    const select = selector();
    take('[');
    const window = secondsOf(take());
    take(']');
    take(')');
    return (series: readonly Series[]) =>
      select(series).flatMap(({ labels, points }) => {
        const now = points.at(-1)?.[0] ?? 0;
        const inside = points.filter(([seconds]) => seconds >= now - window);
        const seconds = now - (inside[0]?.[0] ?? now);
        if (seconds === 0) return [];
        let risen = 0;
        for (const [index, [, value]] of inside.entries()) {
          const before = inside[index - 1]?.[1];
          // A counter that is lower than before has begun anew.
          if (before !== undefined) risen += value >= before ? value - before : value;
        }
        return [{ labels, value: risen / seconds }];
      });
  };

  const aggregate = (name: string) => {
    let by: string[] = [];
    if (tokens[at] === 'by') {
      take('by');
      take('(');
      by = listed(')', () => take());
    }
    take('(');
    const inner = product();
    take(')');
    return (series: readonly Series[]) => {
      const groups = new Map<string, Result>();
      for (const { labels, value } of inner(series)) {
        const kept = Object.fromEntries(by.map((label) => [label, labels[label] ?? '']));
        const key = JSON.stringify(kept);
        const sum = groups.get(key)?.value;
        const joined = name === 'sum' ? (sum ?? 0) + value : Math.max(sum ?? value, value);
        groups.set(key, { labels: kept, value: joined });
      }
      return [...groups.values()];
    };
  };

  const quantile = () => {
    take('(');
    const share = number();
    take(',');
    const inner = product();
    take(')');
    return (series: readonly Series[]) => quantilesOf(share, inner(series));
  };

  type Read = (series: readonly Series[]) => Result[];
  const calls = new Map<string, () => Read>([
    ['rate', rate],
    ['sum', () => aggregate('sum')],
    ['max', () => aggregate('max')],
    ['histogram_quantile', quantile],
  ]);
  const term = (): Read => {
    const call = calls.get(tokens[at] ?? '');
    if (call !== undefined) {
      at++;
      return call();
    }
    const select = selector();
    return (series) =>
      select(series).flatMap(({ labels, points }) => {
        const value = points.at(-1)?.[1];
        return value === undefined ? [] : [{ labels, value }];
      });
  };

  const product = (): Read => {
    const left = term();
    if (tokens[at] !== '/') return left;
    take('/');
    const right = term();
    return (series) => {
      const divisors = new Map(
        right(series).map(({ labels, value }) => [JSON.stringify(labels), value]),
      );
      return left(series).flatMap(({ labels, value }) => {
        const divisor = divisors.get(JSON.stringify(labels));
        return divisor === undefined ? [] : [{ labels, value: value / divisor }];
      });
    };
  };

  let read = product();
  if (at < tokens.length) {
    const value = read;
    const operator = take('>', '<');
    const threshold = number();
    read = (series) =>
      value(series).filter((each) =>
        operator === '>' ? each.value > threshold : each.value < threshold,
      );
  }
  if (at < tokens.length) throw fault();
  return { names, read };
}

function secondsOf(duration: string): number {
  const unit = { s: 1, m: 60, h: 3600, d: 86_400 }[duration.slice(-1)];
  if (unit === undefined) throw new Error(`${duration} is no duration`);
  return Number(duration.slice(0, -1)) * unit;
}

/** Between the limits of its bucket a value is taken to lie anywhere alike. */
function quantilesOf(share: number, buckets: readonly Result[]): Result[] {
  const groups = new Map<string, Result[]>();
  for (const bucket of buckets) {
    const { le: _, ...labels } = bucket.labels;
    const key = JSON.stringify(labels);
    groups.set(key, [...(groups.get(key) ?? []), bucket]);
  }
  const limitOf = ({ labels }: Result) => (labels.le === '+Inf' ? Infinity : Number(labels.le));
  return [...groups].flatMap(([key, group]) => {
    const sorted = group.sort((a, b) => limitOf(a) - limitOf(b));
    const rank = share * (sorted.at(-1)?.value ?? 0);
    const index = sorted.findIndex(({ value }) => value >= rank);
    const found = sorted[index];
    if (found === undefined || rank === 0) return [];
    const below = sorted[index - 1];
    const from = below === undefined ? 0 : limitOf(below);
    const to = limitOf(found);
    const before = below?.value ?? 0;
    const inside = (rank - before) / (found.value - before);
    const value = to === Infinity ? from : from + (to - from) * inside;
    return [{ labels: JSON.parse(key) as Result['labels'], value }];
  });
}
