/**
 * `npm run guardrails:measure`: how well the detectors of `packages/guardrails` find
 * what stands in the labelled lines, and what CPU they take. Prints every line
 * that is judged wrongly; `docs/guardrails.md` has the figures.
 */
import { type CheckContext, checkKinds } from '@sluice/guardrails';
import { measureChecks, measurePii, type Quality } from '@sluice/guardrails/labelled';

const { qualities, faults } = measurePii();
show(qualities, faults);
const judged = await measureChecks();
show(judged.qualities, judged.faults);

function show(measured: readonly Quality[], wrong: readonly string[]): void {
  console.table(
    measured.map(({ precision, recall, ...counts }) => ({
      ...counts,
      precision: precision.toFixed(2),
      recall: recall.toFixed(2),
    })),
  );
  console.log(wrong.join('\n'));
}

const sentence =
  'On Tuesday the team of 12 met at 10:30 to talk about order 4471-20, version 2.14.0 and the budget of 1,250,000 for next year. ';
const plain = sentence.repeat(16).slice(0, 2000);
const personal = `${plain.slice(0, 1900)} Mail ada@example.com or call +1 650-253-0000, card 4111 1111 1111 1111.`;
const rule = (rule: string) => ['default.regexMatch', { rule }] as const;

console.table({
  'pii, 2 kB with nothing': cpuMicros([['default.pii', {}]], plain),
  'pii, 2 kB with three findings': cpuMicros([['default.pii', { redact: true }]], personal),
  'pii with names and places, 2 kB': cpuMicros(
    [['default.pii', { categories: allCategories() }]],
    personal,
  ),
  'three patterns, 2 kB': cpuMicros(
    [rule('(?:secret|hidden)\\s+plan'), rule('\\b\\d{3}-\\d{2}-\\d{4}\\b'), rule('[A-Z]{4}\\d{6}')],
    plain,
  ),
  'prompt injection, 2 kB': cpuMicros([['default.promptInjection', {}]], plain),
  'toxicity, 2 kB': cpuMicros([['default.toxicity', {}]], plain),
  'hosts of images, 2 kB': cpuMicros([['default.imageHosts', {}]], plain),
});

function allCategories(): string[] {
  return qualities.map(({ kind }) => kind);
}

/** CPU of this process for the checks of one text, in µs: other processes do not count. */
function cpuMicros(checks: readonly (readonly [string, object])[], text: string): number {
  const runs = checks.map(([id, parameters]) => {
    const kind = checkKinds.get(id);
    if (kind === undefined) throw new Error(`there is no check ${id}`);
    return kind.compile(parameters).run;
  });
  const context: CheckContext = {
    event: 'beforeRequest',
    endpoint: 'chatComplete',
    request: { messages: [{ role: 'user', content: text }] },
    response: undefined,
    requestId: '',
    headers: {},
    metadata: {},
    provider: 'openai',
    status: 0,
    isStream: false,
    signal: new AbortController().signal,
    ask: () => Promise.reject(new Error('nobody is asked')),
  };
  const turn = () => {
    for (const run of runs) run(context);
  };
  for (let warm = 0; warm < 2_000; warm++) turn();
  const count = 3_000;
  const before = process.cpuUsage();
  for (let at = 0; at < count; at++) turn();
  const { user, system } = process.cpuUsage(before);
  return Math.round((user + system) / count);
}
