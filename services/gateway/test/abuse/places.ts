import { configSchema } from '@sluice/contracts';
import { findProvider, providerIds } from '@sluice/providers';

/** One request that a stranger can make, before its payload is put in. */
export interface Place {
  readonly name: string;
  readonly request: (payload: string) => HostileRequest;
}

export interface HostileRequest {
  path: string;
  headers: [name: string, value: string][];
  body: Buffer;
}

/** Headers of ours that callers send, without the settings of providers. A test holds the list to the sources. */
export const ownHeaders = [
  'api-key',
  'beta',
  'cache-force-refresh',
  'cache-namespace',
  'config',
  'custom-host',
  'debug',
  'explain-endpoint',
  'fetch-integrated-models',
  'forward-headers',
  'gateway-transport',
  'lenient-input',
  'max-cost',
  'metadata',
  'nitro-mode',
  'parent-span-id',
  'provider',
  'refresh-prompt-cache',
  'request-timeout',
  'sensitive-headers',
  'span-id',
  'span-name',
  'strict-open-ai-compliance',
  'strict-openai-compliance',
  'strict-params',
  'trace-id',
  'virtual-key',
].map((name) => `x-service-${name}`);

/** Headers of HTTP, of proxies and of vendors that mean something to us or pass through. */
const foreignHeaders = [
  'accept',
  'accept-encoding',
  'anthropic-beta',
  'anthropic-version',
  'api-key',
  'authorization',
  'baggage',
  'content-encoding',
  'content-type',
  'cookie',
  'forwarded',
  'idempotency-key',
  'if-none-match',
  'openai-beta',
  'openai-organization',
  'origin',
  'range',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-api-key',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-goog-api-key',
  'x-request-id',
  'x-unheard-of',
];

const chatText = '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello"}]}';

/** `x-service-aws-region` with the provider that reads it. */
function settingHeaders(): [header: string, provider: string][] {
  const first = new Map<string, string>();
  for (const id of providerIds())
    for (const name of settingNames(id)) if (!first.has(name)) first.set(name, id);
  return [...first].map(([name, provider]) => [`x-service-${name}`, provider]);
}

function settingNames(id: string): readonly string[] {
  return findProvider(id)?.settings ?? [];
}

/** Each header; what it is beside goes to an upstream of ours, whatever the header says. */
export function headerPlaces(upstream: string): Place[] {
  const plain: [string, string | undefined][] = [...ownHeaders, ...foreignHeaders].map((name) => [
    name,
    undefined,
  ]);
  return [...plain, ...settingHeaders()].map(([name, provider]) => ({
    name,
    request: (payload) => ({
      path: '/v1/chat/completions',
      headers: [
        ...baseHeaders(upstream, provider ?? 'openai').filter(([other]) => other !== name),
        [name, payload],
      ],
      body: Buffer.from(chatText),
    }),
  }));
}

function baseHeaders(upstream: string, provider: string): [string, string][] {
  return [
    ['content-type', 'application/json'],
    ['x-service-provider', provider],
    ['x-service-custom-host', `${upstream}/v1`],
    ['authorization', 'Bearer sk-stranger'],
  ];
}

/** Each header a hundred times. */
export function repeatedHeaderPlaces(upstream: string): Place[] {
  return headerPlaces(upstream).map(({ name, request }) => ({
    name: `${name}, a hundred times`,
    request: (payload) => {
      const once = request(payload);
      const sent = once.headers.at(-1) as [string, string];
      return { ...once, headers: [...once.headers, ...Array.from({ length: 99 }, () => sent)] };
    },
  }));
}

/** Members of JSON bodies, in the words of each format. */
const bodyMembers: readonly [path: string, body: string, members: readonly string[]][] = [
  [
    '/v1/chat/completions',
    '"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello"}]',
    [
      'model',
      'messages',
      'stream',
      'stream_options',
      'user',
      'tools',
      'tool_choice',
      'functions',
      'response_format',
      'stop',
      'temperature',
      'max_tokens',
      'max_completion_tokens',
      'logit_bias',
      'metadata',
      'modalities',
      'audio',
      'prediction',
      'reasoning_effort',
      'thinking',
      'safety_settings',
      'unheard_of',
    ],
  ],
  [
    '/v1/messages',
    '"model":"claude-sonnet-4-5","max_tokens":10,"messages":[{"role":"user","content":"Hello"}]',
    ['model', 'max_tokens', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'metadata'],
  ],
  [
    '/v1/responses',
    '"model":"gpt-4o-mini","input":"Hello"',
    ['model', 'input', 'instructions', 'tools', 'text', 'reasoning', 'include', 'metadata'],
  ],
  [
    '/v1/embeddings',
    '"model":"text-embedding-3-small","input":"Hello"',
    ['model', 'input', 'dimensions', 'encoding_format'],
  ],
  ['/v1/completions', '"model":"gpt-4o-mini","prompt":"Hello"', ['prompt', 'suffix', 'echo', 'n']],
  ['/v1/rerank', '"model":"rerank-v3.5","query":"a","documents":["b"]', ['query', 'documents']],
  ['/v1/moderations', '"input":"Hello"', ['input']],
  ['/v1/images/generations', '"model":"gpt-image-1","prompt":"a cat"', ['prompt', 'n', 'size']],
  ['/v1/audio/speech', '"model":"tts-1","input":"Hello","voice":"alloy"', ['input', 'voice']],
  ['/v1/explain', '"model":"gpt-4o-mini","messages":[]', ['model', 'messages', 'metadata']],
];

/** Who has another format than the caller's, so that bodies are translated as well as passed on. */
const translators = ['openai', 'anthropic', 'google', 'bedrock', 'cohere'];

/** Each member of each body, as it is and in another case; the provider changes from one to the next. */
export function bodyPlaces(upstream: string): Place[] {
  let turn = 0;
  return bodyMembers.flatMap(([path, body, members]) =>
    members
      .flatMap((member) => [member, capitalised(member)])
      .map((member) => {
        const provider = translators[turn++ % translators.length] as string;
        return {
          name: `${path} ${member}, ${provider}`,
          request: (payload: string) => ({
            path,
            headers: [
              ...baseHeaders(upstream, provider),
              ['x-service-aws-region', 'us-east-1'],
              ['x-service-aws-access-key-id', 'AKIDEXAMPLE'],
              ['x-service-aws-secret-access-key', 'secret'],
            ] as [string, string][],
            // Its own member stands first: what comes twice must not help anybody.
            body: Buffer.from(`{${body},${JSON.stringify(member)}:${payload}}`),
          }),
        };
      }),
  );
}

function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Each key of a config, at every depth that the schema tells, in an inline config. */
export function configPlaces(upstream: string): Place[] {
  return configKeys().map(({ name, wrap }) => ({
    name: `config ${name}`,
    request: (payload) => ({
      path: '/v1/chat/completions',
      headers: [...baseHeaders(upstream, 'openai'), ['x-service-config', wrap(payload)]],
      body: Buffer.from(chatText),
    }),
  }));
}

interface ConfigKey {
  readonly name: string;
  /** The whole document with this raw JSON in the key's place. */
  readonly wrap: (payload: string) => string;
}

interface SchemaNode {
  properties?: Record<string, SchemaNode>;
  items?: SchemaNode;
  anyOf?: SchemaNode[];
}

export function configKeys(): ConfigKey[] {
  const found: ConfigKey[] = [];
  const visit = (node: SchemaNode, name: string, wrap: ConfigKey['wrap'], depth: number) => {
    for (const inner of node.anyOf ?? []) visit(inner, name, wrap, depth);
    if (node.items !== undefined && depth < depthMax)
      visit(node.items, `${name}[0]`, (payload) => wrap(`[${payload}]`), depth + 1);
    for (const [key, inner] of Object.entries(node.properties ?? {})) {
      const path = name === '' ? key : `${name}.${key}`;
      const wrapKey = (written: string) => (payload: string) =>
        wrap(`{${beside(name, key)}${JSON.stringify(written)}:${payload}}`);
      found.push({ name: path, wrap: wrapKey(key) });
      found.push({ name: `${path} (another case)`, wrap: wrapKey(capitalised(key)) });
      if (depth < depthMax) visit(inner, path, wrapKey(key), depth + 1);
    }
  };
  visit(configSchema() as SchemaNode, '', (payload) => payload, 0);
  return found;
}

const depthMax = 3;

/** What the rest of a small document needs, so that the key in question is reached at all. */
function beside(parent: string, key: string): string {
  if (parent === '' && key !== 'provider' && key !== 'targets') return '"provider":"openai",';
  if (parent === 'strategy' && key !== 'mode') return '"mode":"fallback",';
  if (parent.endsWith('hooks[0]') && key !== 'checks')
    return '"checks":[{"id":"default.contains","parameters":{"words":["a"]}}],';
  return '';
}

/** Fields and heads of the parts of multipart forms. */
export function formPlaces(upstream: string): Place[] {
  const fields = ['model', 'prompt', 'stream', 'n', 'size', 'language', 'response_format', 'user'];
  const place = (name: string, parts: (payload: string) => string, type?: string): Place => ({
    name: `form ${name}`,
    request: (payload) => ({
      path: '/v1/audio/transcriptions',
      headers: [
        ...baseHeaders(upstream, 'openai').filter(([header]) => header !== 'content-type'),
        ['content-type', type ?? 'multipart/form-data; boundary=b'],
      ],
      body: Buffer.from(`${parts(payload)}--b--\r\n`, 'latin1'),
    }),
  });
  const part = (head: string, data: string) => `--b\r\n${head}\r\n\r\n${data}\r\n`;
  const named = (name: string) => `Content-Disposition: form-data; name="${name}"`;
  const file = part(`${named('file')}; filename="a.wav"\r\nContent-Type: audio/wav`, 'RIFF');
  const model = part(named('model'), 'whisper-1');
  return [
    ...fields.map((field) => place(field, (payload) => file + part(named(field), payload))),
    ...fields.map((field) =>
      place(
        `${field}, a hundred times`,
        (payload) => file + part(named(field), payload.slice(0, 2000)).repeat(100),
      ),
    ),
    place('name of a field', (payload) => file + model + part(named(payload), 'x')),
    place('disposition', (payload) => model + part(`Content-Disposition: ${payload}`, 'x')),
    place(
      'type of a part',
      (payload) => model + part(`${named('a')}\r\nContent-Type: ${payload}`, 'x'),
    ),
    place(
      'encoding of a part',
      (payload) => model + part(`${named('a')}\r\nContent-Transfer-Encoding: ${payload}`, 'x'),
    ),
    place('file name', (payload) => model + part(`${named('file')}; filename=${payload}`, 'x')),
    place(
      'extended file name',
      (payload) => model + part(`${named('file')}; filename*=UTF-8''${payload}`, 'x'),
    ),
    place('bytes before the first part', (payload) => payload + model),
    place('bytes between parts', (payload) => `${model}--b${payload}\r\n${file}`),
  ];
}

/** A boundary of the caller's choosing is a header. */
export function boundaryPlaces(upstream: string): Place[] {
  return [
    {
      name: 'boundary',
      request: (payload) => ({
        path: '/v1/audio/transcriptions',
        headers: [
          ...baseHeaders(upstream, 'openai').filter(([name]) => name !== 'content-type'),
          ['content-type', `multipart/form-data; boundary=${payload}`],
        ],
        body: Buffer.from('--b\r\n\r\n--b--\r\n'),
      }),
    },
  ];
}
