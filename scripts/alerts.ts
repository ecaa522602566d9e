/**
 * `npm run alerts`: holds deploy/prometheus/alerts.yaml to Prometheus itself: `promtool check rules`, and `promtool test rules` with samples
 * on which each alert fires and the nearest on which it does not. Needs promtool (Debian: the package prometheus).
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { alertExamples } from './monitoring/alert-examples.ts';
import { type AlertRule, alertRules } from './monitoring/alerts.ts';
import { runbookOf } from './monitoring/alerts-file.ts';
import { evaluateExpression, type Series } from './monitoring/evaluate-expression.ts';

const rulesFile = resolve(import.meta.dirname, '../deploy/prometheus/alerts.yaml');
/** Longer than any window and any time that an alert has to hold. */
const minutes = 60;
const work = mkdtempSync(join(tmpdir(), 'sluice-alerts-'));
process.exitCode = main();
rmSync(work, { recursive: true, force: true });

function main(): number {
  const tests = Object.values(alertRules)
    .flat()
    .flatMap((rule) => {
      const { fires = [], isQuiet = [] } = alertExamples[rule.name] ?? {};
      return [testOf(rule, fires), testOf(rule, isQuiet)];
    });
  const testFile = join(work, 'tests.json');
  // JSON is YAML, too.
  writeFileSync(
    testFile,
    JSON.stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests }),
  );
  return run('check', 'rules', rulesFile) || run('test', 'rules', testFile);
}

function testOf(rule: AlertRule, series: readonly Series[]) {
  const { name, severity, summary, expression } = rule;
  return {
    name,
    interval: '1m',
    input_series: series.map(({ name, labels, points }) => ({
      series: `${name}{${Object.entries(labels)
        .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
        .join(',')}}`,
      values: valuesOf(points),
    })),
    alert_rule_test: [
      {
        eval_time: `${minutes}m`,
        alertname: name,
        exp_alerts: evaluateExpression(expression, series).map(({ labels }) => ({
          exp_labels: { ...labels, severity },
          exp_annotations: { summary, runbook_url: runbookOf(name) },
        })),
      },
    ],
  };
}

/** The step of the two samples again and again; one that falls is a counter that begins anew each time. */
function valuesOf(points: Series['points']): string {
  const [from = 0, to = from] = points.map(([, value]) => value);
  if (to >= from) return `${from}+${to - from}x${minutes}`;
  return Array.from({ length: minutes + 1 }, (_, at) => (at % 2 === 0 ? from : to)).join(' ');
}

function run(...args: string[]): number {
  const { status, error } = spawnSync('promtool', args, { stdio: 'inherit' });
  if (error !== undefined)
    process.stderr.write(`This takes promtool (apt-get install prometheus): ${error.message}\n`);
  return status ?? 2;
}
