import { table } from './table.ts';

const head = `# Metrics

Made of what the services show by \`npm test -- scripts/monitoring -u\`; do not edit. A test holds it to them. Which labels there are, how many series are told apart and where
metrics are fetched is in [operating.md](operating.md#metrics); rules for what somebody has to look at are in [runbooks](deploy/runbooks.md).

Each service shows those of its runtime as well, \`node_…\`. A histogram has \`_bucket\`, \`_sum\` and \`_count\`. \`PROMETHEUS_METRIC_NAMES\` shows those without a prefix as \`sluice_…\`, in place of these names or beside them.
`;

/** docs/metrics.md, from what each service renders, by its name. */
export function metricsPage(rendered: Readonly<Record<string, string>>): string {
  const services = Object.entries(rendered).map(([service, text]) => {
    const rows = metricsOf(text).map(({ name, type, help }) => [`\`${name}\``, type, help]);
    return `\n## ${service}\n\n${table(['metric', 'type', 'is'], rows)}`;
  });
  return head + services.join('');
}

/** Families by name, but for the runtime's. */
function metricsOf(text: string): { name: string; type: string; help: string }[] {
  const help = new Map(
    [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = '', words = '']) => [name, words]),
  );
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
    .map(([, name = '', type = '']) => ({ name, type, help: help.get(name) ?? '' }))
    .filter(({ name }) => !name.startsWith('node_') || name === 'node_gc_duration_seconds')
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
