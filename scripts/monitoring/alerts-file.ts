import { type AlertRule, alertRules } from './alerts.ts';

/** The text of deploy/prometheus/alerts.yaml. A JSON string is one of YAML, too. */
export function alertsFile(): string {
  const groups = Object.entries(alertRules).map(
    ([name, rules]) => `  - name: sluice-${name}\n    rules:\n${rules.map(ruleText).join('')}`,
  );
  return `# Made from scripts/monitoring/alerts.ts by \`npm run generate\`; do not edit.\ngroups:\n${groups.join('')}`;
}

/** In this project; whoever shows it elsewhere puts that before it. */
export const runbookOf = (alert: string) => `docs/deploy/runbooks.md#${alert.toLowerCase()}`;

function ruleText({ name, expression, holds, severity, summary }: AlertRule): string {
  return [
    `      - alert: ${name}`,
    `        expr: ${JSON.stringify(expression)}`,
    `        for: ${holds}`,
    '        labels:',
    `          severity: ${severity}`,
    '        annotations:',
    `          summary: ${JSON.stringify(summary)}`,
    `          runbook_url: ${runbookOf(name)}`,
    '',
  ].join('\n');
}
