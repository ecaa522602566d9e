import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Endpoint } from '@sluice/contracts';
import { parseConfigDocument } from '@sluice/contracts';
import { compileConfig, directConfig, type ResolvedTarget } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { makeHostRules } from '@sluice/outbound';
import { sentBody, shapedBody } from '../../src/calls/prepare/sent-body.ts';
import { Visit } from '../../src/exchange/exchange.ts';
import type { PreparedCall } from '../../src/exchange/prepared-call.ts';
import type { Target } from '../../src/exchange/target.ts';
import { readProxyRequest, readRequest } from '../../src/pipeline/stages/read-request.ts';
import { prepareCall } from '../../src/visit/prepare-call.ts';
import { resolveTarget } from '../../src/visit/targets/resolve-target.ts';
import { checkSentModels } from '../../src/visit/targets/served-model.ts';
import { exampleBundle, exampleExchange, exampleKey } from '../exchange.ts';

export const allowed = 'allowed-model-7';
export const forbidden = 'forbidden-model-9';

/** One request, and where in it the forbidden model stands. */
export interface Naming {
  name: string;
  body?: string | Buffer;
  search?: string;
  headers?: Record<string, string>;
  config?: object;
  /** What must not reach the provider, where that is another spelling. */
  forbidden?: string;
}

const talk = '"messages":[{"role":"user","content":"Hi"}],"input":"Hi","prompt":"Hi"';
const json = (...members: string[]) => `{${[...members, talk].join(',')}}`;
const A = `"model":"${allowed}"`;

/** Ways to name another model beside, or in the place of, one that is allowed, in a body of JSON. */
export const inBodies: readonly Naming[] = [
  { name: 'plainly', body: json(`"model":"${forbidden}"`) },
  { name: 'first of two members', body: json(`"model":"${forbidden}"`, A) },
  { name: 'last of two members', body: json(A, `"model":"${forbidden}"`) },
  { name: 'an escaped member', body: json(A, `"mod\\u0065l":"${forbidden}"`) },
  { name: 'an escaped member first', body: json(`"\\u006dodel":"${forbidden}"`, A) },
  ...['Model', 'MODEL', 'mODEL'].map((key) => ({
    name: `the member ${key}`,
    body: json(A, `"${key}":"${forbidden}"`),
  })),
  { name: 'only a member in another case', body: json(`"Model":"${forbidden}"`) },
  {
    name: 'fallbacks',
    body: json(A, `"models":["${allowed}","${forbidden}"]`, '"route":"fallback"'),
  },
  { name: 'fallbacks in another case', body: json(A, `"Models":["${forbidden}"]`) },
  { name: 'fallbacks twice', body: json(A, `"models":["${forbidden}"],"models":["${allowed}"]`) },
  { name: 'a fallback model', body: json(A, `"fallback_model":"${forbidden}"`) },
  { name: 'a model id', body: json(A, `"modelId":"${forbidden}"`) },
  {
    name: 'a tool’s model',
    body: json(A, `"tools":[{"type":"image_generation","model":"${forbidden}"}]`),
  },
  {
    name: 'a tool’s model behind other tools',
    body: json(A, `"tools":[{"type":"image_generation","model":"${forbidden}"}],"tools":[]`),
  },
  {
    name: 'a tool’s model, twice',
    body: json(
      A,
      `"tools":[{"type":"image_generation","model":"${forbidden}","model":"${allowed}"}]`,
    ),
  },
  { name: 'a session’s model', body: json(A, `"session":{"model":"${forbidden}"}`) },
  {
    name: 'a transcription’s model',
    body: json(A, `"audio":{"input":{"transcription":{"model":"${forbidden}"}}}`),
  },
  {
    name: 'models of a compound',
    body: json(A, `"compound_custom":{"models":{"reasoning_model":"${forbidden}"}}`),
  },
  {
    name: 'a deployment of a data source',
    body: json(A, `"dataSources":[{"parameters":{"embeddingDeploymentName":"${forbidden}"}}]`),
  },
  { name: 'a batch', body: json(A, `"requests":[{"params":{"model":"${forbidden}"}}]`) },
  { name: 'space around it', body: json(`"model":" ${allowed}"`), forbidden: ` ${allowed}` },
  {
    name: 'capitals',
    body: json(`"model":"${allowed.toUpperCase()}"`),
    forbidden: allowed.toUpperCase(),
  },
  { name: 'a slug', body: json(`"model":"@few/${forbidden}"`) },
  { name: 'two slugs', body: json(`"model":"@few/@few/${forbidden}"`) },
  { name: 'the query', body: json(A), search: `?model=${forbidden}` },
  { name: 'the query in another case', body: json(A), search: `?MODEL=${forbidden}` },
  { name: 'the query, escaped', body: json(A), search: `?mod%65l=${forbidden}` },
  { name: 'the query, as a deployment', body: json(A), search: `?deployment-id=${forbidden}` },
  { name: 'the query, as a list', body: json(A), search: `?models[0]=${forbidden}` },
];

/** What a config can do to a body; of unified endpoints alone. */
export const inConfigs: readonly Naming[] = [
  { name: 'an override', body: json(A), config: { override_params: { model: forbidden } } },
  {
    name: 'an override in another case',
    body: json(A),
    config: { override_params: { Model: forbidden } },
  },
  {
    name: 'overridden fallbacks',
    body: json(A),
    config: { override_params: { models: [forbidden] } },
  },
  { name: 'a list as override', body: json(), config: { override_params: { model: [forbidden] } } },
  { name: 'a default', body: json(), config: { default_params: { model: forbidden } } },
  { name: 'default fallbacks', body: json(A), config: { default_params: { models: [forbidden] } } },
  {
    name: 'an overridden tool',
    body: json(A),
    config: { override_params: { tools: [{ model: forbidden }] } },
  },
  { name: 'a deployment', body: json(A), config: { azure_deployment_id: forbidden } },
  { name: 'a deployment’s short name', body: json(A), config: { deployment_id: forbidden } },
  {
    name: 'a list of deployments',
    body: json(A),
    config: { deployments: [{ deployment_id: forbidden, alias: allowed, is_default: true }] },
  },
  { name: 'a deployment beside it', body: json(A), config: { azure_deployment_name: forbidden } },
];

const F = json(`"model":"${forbidden}"`);
const typed = (type: string, body: string | Buffer, more: Record<string, string> = {}) => ({
  headers: { 'content-type': type, ...more },
  body,
});
const multipart = `--x\r\ncontent-disposition: form-data; name="model"\r\n\r\n${forbidden}\r\n--x--\r\n`;
const utf16 = Buffer.from(F, 'utf16le');

/** Bodies that a provider may read although we do not, or read differently; of pass-through alone. */
export const unreadable: readonly Naming[] = [
  { name: 'as image/json', ...typed('image/json', F) },
  { name: 'as text', ...typed('text/plain', F) },
  { name: 'as bytes', ...typed('application/octet-stream', F) },
  { name: 'in a form', ...typed('multipart/form-data; boundary=x', multipart) },
  { name: 'in a form of mixed parts', ...typed('multipart/mixed; boundary=x', multipart) },
  { name: 'urlencoded', ...typed('application/x-www-form-urlencoded', `model=${forbidden}`) },
  { name: 'compressed', ...typed('application/json', gzipSync(F), { 'content-encoding': 'gzip' }) },
  {
    name: 'said to be compressed',
    ...typed('application/json', F, { 'content-encoding': 'identity' }),
  },
  { name: 'in chunks', ...typed('application/json', F, { 'transfer-encoding': 'chunked' }) },
  { name: 'in UTF-16', ...typed('application/json; charset=utf-16', utf16) },
  { name: 'in UTF-16 unsaid', ...typed('application/json', utf16) },
  { name: 'behind a mark', ...typed('application/json', `\ufeff${F}`) },
  {
    name: 'large',
    ...typed('application/json', json(`"model":"${forbidden}","pad":"${' '.repeat(4_200_000)}"`)),
  },
  { name: 'in a list', ...typed('application/json', `[${F}]`) },
  { name: 'after a fault', ...typed('application/json', `${json(A)},${F}`) },
  { name: 'without a type', headers: {}, body: F },
  {
    name: 'in a header',
    ...typed('application/json', json(A), { 'azureml-model-deployment': forbidden }),
  },
  {
    name: 'in a header of SageMaker',
    ...typed('application/json', json(A), { 'x-amzn-sagemaker-target-model': forbidden }),
  },
  {
    name: 'in a component’s header',
    ...typed('application/json', json(A), { 'x-amzn-sagemaker-inference-component': forbidden }),
  },
];

export const allowedBody = json(
  A,
  // As vendors with a body of their own call it.
  `"model_id":"${allowed}","model_name":"${allowed}","servingMode":{"modelId":"${allowed}"}`,
  '"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"model":{"type":"string","enum":["any"]}}}}}]',
);

/** A path's spellings that name the same to some readers. */
export function spellingsOf(path: string): { name: string; path: string }[] {
  const first = path.indexOf(forbidden);
  const escaped = (text: string) => `%${text.charCodeAt(0).toString(16)}${text.slice(1)}`;
  const at = (index: number, text: string) => path.slice(0, index) + text;
  const slash = path.lastIndexOf('/', first);
  return [
    { name: 'plain', path },
    { name: 'escaped model', path: at(first, escaped(path.slice(first))) },
    { name: 'twice escaped model', path: at(first, `%25${escaped(path.slice(first)).slice(1)}`) },
    { name: 'escaped slash', path: at(slash, `%2F${path.slice(slash + 1)}`) },
    { name: 'twice escaped slash', path: at(slash, `%252F${path.slice(slash + 1)}`) },
    { name: 'escaped word', path: `/${escaped(path.slice(1))}` },
    {
      name: 'in capitals',
      path: path.replace(/[a-z]+/g, (word) =>
        forbidden.includes(word) ? word : word.toUpperCase(),
      ),
    },
    { name: 'doubled slash', path: path.replaceAll('/', '//') },
    { name: 'slash at the end', path: path.includes('?') ? path.replace('?', '/?') : `${path}/` },
    { name: 'backslash', path: at(slash, `\\${path.slice(slash + 1)}`) },
    { name: 'parameters', path: path.includes('?') ? path : `${path};v=1` },
    { name: 'another prefix', path: `/x${path}` },
    { name: 'a version before it', path: `/v1beta${path}` },
  ];
}

/** The provider `@few`, limited to one model, as the gateway holds it. */
export function limitedTo(
  provider: string,
  configurations: object = {},
  models: object[] = [{ slug: allowed, enabled: true }],
) {
  return exampleBundle({
    providers: [
      {
        slug: 'few',
        provider,
        status: 'active',
        apiKey: 'sk-saved',
        customHost: 'https://upstream.example/base',
        configurationsJson: JSON.stringify(configurations),
        allowAllModels: false,
        models,
      },
    ] as never,
  });
}

export interface Sent {
  target: Target;
  outgoing: PreparedCall;
}

/** What would be sent, by the gateway's own stages up to the socket; or the code of the refusal. */
export async function send(
  bundle: ReturnType<typeof limitedTo>,
  request: Naming & { pathname: string; endpoint: Endpoint; isProxy: boolean; method?: string },
): Promise<Sent | string> {
  const body = Buffer.from(request.body ?? '');
  const chunked = request.headers?.['transfer-encoding'] !== undefined;
  const exchange = exampleExchange({
    bundle,
    key: exampleKey(),
    body,
    isProxy: request.isProxy,
    endpoint: request.endpoint,
    pathname: request.pathname,
    search: request.search,
    method: request.method,
    headers: {
      'x-service-provider': '@few',
      ...(body.length === 0 || chunked ? {} : { 'content-length': String(body.length) }),
      ...(request.headers ?? { 'content-type': 'application/json' }),
    },
    bodyStream: () => Readable.from([body]),
  });
  if (request.config !== undefined) {
    const parsed = parseConfigDocument(request.config, 'ignore');
    if (!parsed.ok) throw new Error(parsed.faults.join());
    exchange.config = {
      compiled: compileConfig(parsed.config),
      saved: undefined,
      source: 'inline',
    };
  }
  const planned = (exchange.config?.compiled ?? directConfig).targets[0] as ResolvedTarget;
  try {
    await (request.isProxy ? readProxyRequest : readRequest)(
      exchange,
      async () => undefined as never,
    );
    const target = resolveTarget(exchange, planned);
    const shaped = shapedBody(exchange, target);
    checkSentModels(exchange, target, sentBody(exchange, target, shaped));
    return {
      target,
      outgoing: prepareCall(new Visit(exchange, planned), target, shaped, { hostRules }),
    };
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
}

const hostRules = makeHostRules({ trusted: undefined, production: true });

/**
 * Whether any reader could find this name in what is sent: in the path however
 * often it is decoded, in headers, in the body's text or what it unpacks to.
 */
export async function names({ outgoing }: Sent, name: string): Promise<boolean> {
  const body =
    outgoing.body instanceof Readable
      ? Buffer.concat(await outgoing.body.toArray())
      : outgoing.body;
  const texts = [outgoing.path, ...Object.values(outgoing.headers).map(String)];
  for (let decoded = outgoing.path, round = 0; round < 3; round++) {
    try {
      decoded = decodeURIComponent(decoded);
    } catch {
      break;
    }
    texts.push(decoded);
  }
  if (Buffer.isBuffer(body)) {
    texts.push(body.toString('utf8'), body.toString('utf16le'));
    if (body[0] === 0x1f) texts.push(gunzipSync(body).toString());
  }
  return texts.some((text) => text.includes(name));
}
