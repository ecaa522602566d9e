import { type CheckContext, checkKinds } from '@sluice/guardrails';

/** A check with its parameters. */
export type NamedCheck = readonly [id: string, parameters: object];

const sentence =
  'On Tuesday the team of 12 met at 10:30 to talk about order 4471-20, version 2.14.0 and the budget of 1,250,000 for next year. ';
/** 2 kB in which nothing is found. */
export const plainText = sentence.repeat(16).slice(0, 2000);
/** The same with three findings of personal data. */
export const personalText = `${plainText.slice(0, 1900)} Mail ada@example.com or call +1 650-253-0000, card 4111 1111 1111 1111.`;

export const threePatterns: readonly NamedCheck[] = [
  '(?:secret|hidden)\\s+plan',
  '\\b\\d{3}-\\d{2}-\\d{4}\\b',
  '[A-Z]{4}\\d{6}',
].map((rule) => ['default.regexMatch', { rule }]);

/** CPU of this process for the checks of one text, in µs, for each of some rounds: other processes do not count. */
export function timeChecks(checks: readonly NamedCheck[], text: string): number[] {
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
  const spin = (turns: number) => {
    const before = process.cpuUsage();
    for (let turn = 0; turn < turns; turn++) for (const run of runs) run(context);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / turns;
  };
  spin(2_000);
  return Array.from({ length: 5 }, () => spin(1_000));
}
