import type { Asked, RecordView } from '../lab.ts';
import { endingError, hasTerminator } from '../vendor-replies.ts';

/** One line of the table that `npm run faults` prints, made of what was observed. */
export interface TableRow {
  label: string;
  caller: string;
  upstreamCalls: string;
  records: string;
}

declare module 'vitest' {
  interface TaskMeta {
    faultRows?: TableRow[];
  }
}

export function tableRow(asked: Asked): TableRow {
  return {
    label: asked.label,
    caller: callerSees(asked),
    upstreamCalls: runs(asked.calls),
    records: runs(asked.records.map(recordText)),
  };
}

function callerSees({ answer }: Asked): string {
  const isStream = /^text\/event-stream/.test(answer.headers.get('content-type') ?? '');
  const words = [String(answer.status)];
  const error = answer.json as { error?: { code?: string; type?: string } } | undefined;
  if (isStream) words.push(hasTerminator(answer.text) ? 'whole stream' : 'stream');
  const code = isStream ? endingError(answer.text) : (error?.error?.code ?? error?.error?.type);
  if (code !== undefined) words.push(code);
  if (answer.wasCut) words.push('cut');
  words.push(`retries ${answer.own('retry-attempt-count')}`);
  words.push(answer.own('last-used-option-index') ?? '');
  return words.join(' ');
}

function recordText(record: RecordView): string {
  const result = record.outcome === 'SUCCESS' ? '' : ` ${record.status} ${record.code}`;
  const tokens = record.tokens === null ? '' : ` ${record.tokens.join('+')}`;
  const cost = record.costNanoUsd === null ? '' : ` $${record.costNanoUsd / 1e9}`;
  return `${record.outcome.toLowerCase()}${result}${tokens}${cost}`;
}

/** `a, a, b` as `2 × a, b`. */
function runs(items: readonly string[]): string {
  const groups: { item: string; count: number }[] = [];
  for (const item of items) {
    const last = groups.at(-1);
    if (last?.item === item) last.count += 1;
    else groups.push({ item, count: 1 });
  }
  return groups.map(({ item, count }) => (count > 1 ? `${count} × ${item}` : item)).join(', ');
}
