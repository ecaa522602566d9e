/** Under which names metrics are shown: those that are published, the same with our prefix, or both. */
export const metricNameForms = ['published', 'prefixed', 'both'] as const;
export type MetricNames = (typeof metricNameForms)[number];

/** What has a prefix of its own: ours, and the runtime's. */
const isPrefixed = /^(?:sluice_|node_)/;
const nameOfLine = /^(?:# (?:HELP|TYPE) )?([a-zA-Z_:][a-zA-Z0-9_:]*)/;

/** The text of `/metrics` under other names. Families stay together, as the format wants it. */
export function namedMetrics(text: string, names: MetricNames): string {
  if (names === 'published') return text;
  const renamed = text
    .split('\n\n')
    .map((family) => [family, prefixed(family)] as const)
    .flatMap(([published, ours]) =>
      names === 'prefixed' || ours === published ? [ours] : [published, ours],
    );
  return renamed.join('\n\n');
}

function prefixed(family: string): string {
  return family
    .split('\n')
    .map((line) => {
      const name = nameOfLine.exec(line)?.[1];
      if (name === undefined || isPrefixed.test(name)) return line;
      return line.replace(name, `sluice_${name}`);
    })
    .join('\n');
}
