import { type ClientName, eraClients } from './era-clients.ts';
import { scenarios } from './transcripts.ts';

export interface EraCase {
  readonly client: ClientName;
  readonly server: string;
  readonly scenario: string;
}

/** The part of docs/mcp-conformance.md about eras. @param held  cases whose transcripts were equal */
export function eraSection(
  all: readonly EraCase[],
  held: ReadonlySet<EraCase>,
  servers: readonly string[],
): string {
  const total = Object.keys(scenarios).length;
  const rows = Object.keys(eraClients).map((client) => {
    const counts = servers.map((server) => {
      const cell = all.filter((one) => one.client === client && one.server === server);
      return `${cell.filter((one) => held.has(one)).length} of ${total}`;
    });
    return `| ${client} | ${counts.join(' | ')} |`;
  });
  return `## Clients and servers of both eras

Clients as published against a server of each era, through gateways in turn that share a Redis: ${Object.keys(scenarios).join(', ')}.
Counted is what a client says and hears through gateways as a client that speaks the server's era says and hears it directly. SDK is \`@modelcontextprotocol/sdk\`, client \`@modelcontextprotocol/client\`;
the older server is of SDK 1.32, by Streamable HTTP and by HTTP+SSE, the newer of \`@modelcontextprotocol/server\` 2.4 and refuses the older era.

| client | ${servers.map((server) => `${server} server`).join(' | ')} |
|---|${servers.map(() => '---|').join('')}
${rows.join('\n')}`;
}
