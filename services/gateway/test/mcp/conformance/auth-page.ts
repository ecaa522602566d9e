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
    failuresOf(suite, findings).map((line) => {
      const why = Object.entries(named).find(([start]) => line.startsWith(start))?.[1];
      return `- ${line}${why === undefined ? '' : ` (${why})`}`;
    }),
  );
  return `## The gateway as OAuth client

The client suites about OAuth (\`--suite auth\`, and what further scenarios there are of it): the gateway is the client, an integration with \`oauth_auto\` is set up for the suite's server,
SDK 1.32 calls it, and a person with a browser signs in where they are told to. Counted are scenarios without a failure, and checks that pass, of those that pass or fail.

- Client id metadata documents (\`basic-cimd\`): the gateway's own is of use at https alone, which these installations are not; the integration names the document that the suite expects.
- Not run: what the gateway does not do as a client. Private key JWTs, DPoP, workload identity, cross-app access and enterprise-managed authorisation, extensions all of them.

| suite | scenarios | checks | warnings |
|---|---|---|---|
${rows.join('\n')}

${failed.length === 0 ? 'Nothing fails.' : `What fails:\n\n${failed.join('\n')}`}`;
}

/** @returns lines `suite: check: what was said` */
export function failuresOf(suite: string, findings: Findings): string[] {
  return [...findings].flatMap(([check, { status, message }]) =>
    status === 'FAILURE' ? [`${suite}: ${check}: ${message === '' ? status : message}`] : [],
  );
}

function scenariosOf(findings: Findings): string[] {
  return [...new Set([...findings.keys()].map((check) => check.split(' / ')[0] ?? ''))];
}
