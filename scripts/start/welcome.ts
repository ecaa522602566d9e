import type { SluiceCredentials } from '@sluice/stack';
import type { DemoTools } from './demo-tools.ts';

/** What a person sees when everything is ready: two requests to copy, and where things are. */
export function welcome(
  credentials: SluiceCredentials,
  dataDir: string,
  seconds: number,
  tools?: DemoTools,
): string {
  const {
    workspace_slug: workspace,
    base_url: baseUrl,
    workspace_key: key,
    admin_key: adminKey,
    demo_provider: provider,
  } = credentials;
  return `
Sluice is ready (${seconds.toFixed(1)} s).

  Base URL       ${baseUrl}
  Workspace      ${workspace}
  Workspace key  ${key}
  Admin key      ${adminKey}
  Admin API      ${new URL(baseUrl).origin}/docs
  Both keys are kept in ${dataDir}/credentials.json

For a shell, with the names that the documentation uses:

export SLUICE='${new URL(baseUrl).origin}' WORKSPACE='${workspace}' KEY='${key}' WORKSPACE_KEY='${key}' ADMIN_KEY='${adminKey}'

A first request, answered by the built-in demo provider:

curl ${baseUrl}/chat/completions \\
  -H 'content-type: application/json' \\
  -H 'x-service-api-key: ${key}' \\
  -d '{"model":"${provider}/gpt-4o-mini","messages":[{"role":"user","content":"Hello"}]}'

The same with the OpenAI SDK (npm install openai):

import OpenAI from 'openai';
const client = new OpenAI({ baseURL: '${baseUrl}', apiKey: '${key}' });
const answer = await client.chat.completions.create({
  model: '${provider}/gpt-4o-mini',
  messages: [{ role: 'user', content: 'Hello' }],
});
console.log(answer.choices[0].message.content);
${tools === undefined ? '' : toolLines(tools, credentials)}
Logs are in ${dataDir}/logs. Ctrl-C stops everything; the data stays.
`;
}

function toolLines(
  { mcpUrl, agentUrl }: DemoTools,
  { base_url: baseUrl, workspace_key: key, demo_provider: provider }: SluiceCredentials,
): string {
  return `
A demo MCP server, for Claude Code:

claude mcp add --transport http sluice-demo ${mcpUrl} --header 'x-service-api-key: ${key}'

Its tools, run by the gateway for a model:

curl ${baseUrl}/responses \\
  -H 'content-type: application/json' \\
  -H 'x-service-api-key: ${key}' \\
  -d '{"model":"${provider}/gpt-4o-mini","input":"Say hello","tools":[{"type":"mcp","server_label":"demo","require_approval":"never"}]}'

A demo agent (A2A 0.3 and 1.0) is at ${agentUrl} with the same key.
`;
}
