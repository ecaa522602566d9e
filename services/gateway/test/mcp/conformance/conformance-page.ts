import { countOf, differences, type Findings, type SuiteName } from './run-suite.ts';

/** One suite against one server, directly and through gateways. */
export interface Run {
  readonly server: string;
  readonly suite: SuiteName;
  readonly direct: Findings;
  readonly through: readonly Through[];
}

export interface Through {
  readonly gateways: number;
  /** Through a merged server of which the server is the only member. */
  readonly isMerged: boolean;
  readonly findings: Findings;
}

/** The text of docs/mcp-conformance.md. @param lostOf  checks that pass directly and not through, and why @param sections  further parts of the page */
export function conformancePage(
  runs: readonly Run[],
  lostOf: (run: Run) => readonly { line: string; why: string | undefined }[],
  sections: readonly string[],
): string {
  const lines = runs.map(({ server, suite, direct, through }) =>
    [server, suite, count(direct), ...through.map(({ findings }) => count(findings))].join(' | '),
  );
  const columns = runs[0]?.through.map(wayOf);
  const better = runs.flatMap(({ server, suite, direct, through }) => {
    const [{ findings } = { findings: direct }] = through;
    return differences(findings, direct).map((line) => `- ${server}, ${suite}: ${line}`);
  });
  const found = runs.flatMap((run) =>
    lostOf(run).map(
      ({ line, why }) => `- ${run.suite}: ${line}${why === undefined ? '' : ` (${why})`}`,
    ),
  );
  return `<!-- Written by npm run mcp:conformance. -->

# MCP conformance

The server suites of \`@modelcontextprotocol/conformance\`, run against MCP servers directly and through gateways: checks passed, of checks that pass or fail.
Three gateways are asked in turn, each request another one. A merged server has the server as its only member.

| server | suite | directly | ${(columns ?? []).join(' | ')} |
|---|---|---|${(columns ?? []).map(() => '---|').join('')}
${lines.map((line) => `| ${line} |`).join('\n')}

- \`server-everything\` is \`@modelcontextprotocol/server-everything\` 2026.8.31. It lacks most of what the suites ask for by name, which is why it fails directly.
- \`fixtures\` is a server of \`@modelcontextprotocol/server\` 2.4 with all that the suites ask for, in both eras; \`fixtures, newer era\` refuses the older one.
- The suites take every scenario of their revision (\`--suite all\`). Those of extensions belong to none and are not run.

## Checks that pass directly and not through

${found.length === 0 ? 'None.' : found.join('\n')}

## Checks that pass through alone

Directly, these are as the suite says.

${better.length === 0 ? 'None.' : better.join('\n')}

${sections.join('\n\n')}`
    .trimEnd()
    .concat('\n');
}

export function wayOf({ gateways, isMerged }: Through): string {
  const way = gateways === 1 ? 'one gateway' : `${gateways} gateways in turn`;
  return isMerged ? `merged, ${way}` : way;
}

function count(findings: Findings): string {
  const passed = countOf(findings, 'SUCCESS');
  return `${passed} of ${passed + countOf(findings, 'FAILURE')}`;
}
