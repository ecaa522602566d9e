import { countOf, type Findings } from './run-suite.ts';

/** The part of docs/mcp-conformance.md about the gateway as a client of authorisation servers. @param named  failures that are right, and why */
export function authSection(
  runs: ReadonlyMap<string, Findings>,
  named: Readonly<Record<string, string>>,
): string {
  const rows = [...runs].map(([suite, findings]) => {
    const scenarios = scenariosOf(findings);
    const clean = scenarios.filter(
      (scenario) =>
        ![...findings].some(
          ([check, { status }]) => check.startsWith(`${scenario} /`) && status === 'FAILURE',
        ),
    );
    const passed = countOf(findings, 'SUCCESS');
    return `| ${suite} | ${clean.length} of ${scenarios.length} | ${passed} of ${passed + countOf(findings, 'FAILURE')} | ${countOf(findings, 'WARNING')} |`;
  });
  const failed = [...runs].flatMap(([suite, findings]) =>
    [...findings].flatMap(([check, { status, message }]) => {
      if (status !== 'FAILURE') return [];
      const why = Object.entries(named).find(([start]) => check.startsWith(start))?.[1];
      return [
        `- ${suite}: ${check}: ${message === '' ? status : message}${why === undefined ? '' : ` (${why})`}`,
      ];
    }),
  );
  return `## The gateway as OAuth client

The client suites about OAuth (\`--suite auth\`): the gateway is the client, an integration with \`oauth_auto\` is set up for the suite's server, SDK 1.32 calls it, and a person with a browser signs in where they are
told to. Counted are scenarios without a failure, and checks that pass, of those that pass or fail.

| suite | scenarios | checks | warnings |
|---|---|---|---|
${rows.join('\n')}

${failed.length === 0 ? 'Nothing fails.' : `What fails:\n\n${failed.join('\n')}`}`;
}

function scenariosOf(findings: Findings): string[] {
  return [...new Set([...findings.keys()].map((check) => check.split(' / ')[0] ?? ''))];
}
