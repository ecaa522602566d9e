/**
 * What the suites start as the client under test: the gateway is it, set up for the server that is named last, asked by a client as published,
 * and helped by a person with a browser where it says that somebody has to sign in. Run by `run-auth-suite.ts`.
 */
import { crc32 } from 'node:zlib';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { awayFrom, Browser, goOnFrom, pageOf } from '@sluice/testkit/browser';

/** Of the installation that runs. */
export interface AuthLab {
  readonly base: string;
  readonly adminKey: string;
  readonly workspaceId: string;
  /** Of several people, who may begin so many sign-ins at a time each. */
  readonly userKeys: readonly string[];
}

const lab = JSON.parse(process.env.SLUICE_AUTH_LAB ?? '{}') as AuthLab;
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Record<string, string>;
const url = process.argv.at(-1) ?? '';
/** Always the same of them for one scenario. */
const userKey = lab.userKeys[crc32(scenario) % lab.userKeys.length] ?? '';
/** A person does not sign in for the same thing for ever. */
const signInsMax = 3;
/** An id of ours, where the suite wants to see a document's address. */
const documentId = 'https://conformance-test.local/client-metadata.json';

async function admin<T>(path: string, body: object): Promise<T> {
  const answer = await fetch(`${lab.base}/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-api-key': lab.adminKey },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`);
  return JSON.parse(text) as T;
}

async function save(): Promise<string> {
  const { client_id, client_secret } = context;
  const own = scenario.endsWith('basic-cimd')
    ? { client_id: documentId }
    : client_id === undefined
      ? {}
      : { client_id, ...(client_secret === undefined ? {} : { client_secret }) };
  const integration = await admin<{ id: string }>('/mcp-integrations', {
    name: scenario,
    url,
    transport: 'http',
    auth_type: scenario.includes('client-credentials') ? 'oauth_client_credentials' : 'oauth_auto',
    configurations: { oauth_metadata: own },
    workspace_id: lab.workspaceId,
  });
  const { slug } = await admin<{ slug: string }>('/mcp-servers', {
    name: scenario,
    mcp_integration_id: integration.id,
    workspace_id: lab.workspaceId,
  });
  return slug;
}

/** @throws where the sign-in comes to nothing */
async function signIn(address: string): Promise<void> {
  const browser = new Browser(lab.base);
  const asked = await pageOf(await browser.follow(address));
  const sent = await pageOf(await browser.submit(asked, { do: 'login', key: userKey }));
  if (sent.status !== 200) throw new Error(sent.html);
  const back = awayFrom(await fetch(goOnFrom(sent), { redirect: 'manual' }));
  const end = await pageOf(await browser.follow(back.href));
  if (end.status !== 200) throw new Error(end.html);
}

/** The client's calls, each until it is answered: who is told to sign in does, and asks again. */
async function patiently<T>(run: () => Promise<T>, left: { signIns: number }): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      const [address] =
        /http[^"\s]*\/oauth\/upstream-auth\?server=[\w-]+/.exec(String(error)) ?? [];
      if (address === undefined || left.signIns === 0) throw error;
      left.signIns -= 1;
      await signIn(address);
    }
  }
}

const slug = await save();
const left = { signIns: signInsMax };
const client = await patiently(async () => {
  const made = new Client({ name: 'conformance', version: '1' });
  await made.connect(
    new StreamableHTTPClientTransport(new URL(`${lab.base}/${slug}/mcp`), {
      requestInit: { headers: { 'x-service-api-key': userKey } },
    }),
  );
  return made;
}, left);
await patiently(() => client.listTools(), left);
await patiently(() => client.callTool({ name: 'test-tool', arguments: {} }), left);
await client.close();
