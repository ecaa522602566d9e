import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { inTurn, type McpLab } from '../mcp-lab.ts';

export type EraMode = 'auto' | 'legacy' | { pin: string };

/** A client of `@modelcontextprotocol/client` that answers whatever it is asked, at all gateways in turn. */
export async function connectBoth(lab: McpLab, slug: string, mode: EraMode): Promise<Client> {
  const client = new Client(
    { name: 'stranger', version: '2' },
    {
      capabilities: { elicitation: {}, sampling: {}, roots: {} },
      versionNegotiation: { mode },
    },
  );
  client.setRequestHandler('elicitation/create', async () => ({
    action: 'accept',
    content: { name: 'Ada' },
  }));
  client.setRequestHandler('sampling/createMessage', async () => ({
    model: 'm',
    role: 'assistant',
    content: { type: 'text', text: 'sampled' },
  }));
  client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///here' }] }));
  const urls = lab.urls(slug);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(urls[0] as string), {
      fetch: inTurn(urls),
      requestInit: {
        headers: { 'x-service-api-key': lab.scenario.stack.credentials.workspace_key },
      },
    }),
  );
  return client;
}
