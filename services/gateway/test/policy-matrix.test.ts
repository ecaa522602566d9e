import { randomUUID } from 'node:crypto';
import { eventually, inTurns, isLongForm, json, type RecordedRequest, sse } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AskOptions, type Lab, startLab, type Trial } from './lab.ts';
import { chatReply } from './scenario.ts';
import { anthropicReply, openAiEvents } from './vendor-replies.ts';

/**
 * What conditions and groups of policies see of a request, through a running
 * gateway: each key in each form, for both kinds of policy, on each way that a
 * request may take. The verdicts are written by hand. All policies are there at
 * once, in shadow mode, with less than any request takes: the record of a request
 * names those that would have refused it.
 */

/** The columns of all tables below, in this order. */
const requests = [
  'chat',
  'chat, streamed',
  'messages, translated',
  'messages, translated and streamed',
  'passed through',
  'passed through and streamed',
  'another key, config, provider, model and team',
  'without config, saved provider and metadata',
  'a saved prompt',
] as const;

/** Known once the installation runs. */
const known = { key: '', otherKey: '', config: '', otherConfig: '', prompt: '' };
const ids = { workspace: '', slug: '', organisation: '' };
const nobody = '01890000-0000-7000-8000-000000000000';

interface Condition {
  key: string;
  value: string | string[];
  excludes?: string | string[];
}

/** The form, the condition, and the requests that meet it: `x` for each of the columns. */
type Row = readonly [form: string, condition: () => Condition, verdicts: string];

const ofBothKinds: readonly Row[] = [
  ['api_key: match', () => ({ key: 'api_key', value: known.key }), 'xxxxxx--x'],
  ['api_key: other value', () => ({ key: 'api_key', value: nobody }), '---------'],
  ['api_key: list', () => ({ key: 'api_key', value: [nobody, known.otherKey] }), '------xx-'],
  ['api_key: *', () => ({ key: 'api_key', value: '*' }), 'xxxxxxxxx'],
  ['api_key: excludes', () => ({ key: 'api_key', value: '*', excludes: known.key }), '------xx-'],

  ['metadata: match', () => ({ key: 'metadata.team', value: 'red' }), 'xxxxxx--x'],
  ['metadata: match in capitals', () => ({ key: 'metadata.team', value: ' RED' }), 'xxxxxx--x'],
  ['metadata: other value', () => ({ key: 'metadata.team', value: 'green' }), '---------'],
  ['metadata: list', () => ({ key: 'metadata.team', value: ['green', 'blue'] }), '------x--'],
  ['metadata: *', () => ({ key: 'metadata.team', value: '*' }), 'xxxxxxx-x'],
  [
    'metadata: excludes',
    () => ({ key: 'metadata.team', value: '*', excludes: ['green', 'red'] }),
    '------x--',
  ],
  ['metadata: absent', () => ({ key: 'metadata.none', value: '*' }), '---------'],
  [
    'metadata: absent, excludes',
    () => ({ key: 'metadata.none', value: '*', excludes: 'red' }),
    '---------',
  ],

  ['the body’s user: match', () => ({ key: 'metadata._user', value: 'alice' }), 'xxxxxx--x'],
  [
    'the body’s user: other value',
    () => ({ key: 'metadata._user', value: 'mallory' }),
    '---------',
  ],
  ['the body’s user: list', () => ({ key: 'metadata._user', value: ['bob', 'eve'] }), '------x--'],
  ['the body’s user: *', () => ({ key: 'metadata._user', value: '*' }), 'xxxxxxx-x'],
  [
    'the body’s user: excludes',
    () => ({ key: 'metadata._user', value: '*', excludes: 'alice' }),
    '------x--',
  ],

  ['workspace_id: match', () => ({ key: 'workspace_id', value: ids.workspace }), 'xxxxxxxxx'],
  ['workspace_id: slug', () => ({ key: 'workspace_id', value: ids.slug }), 'xxxxxxxxx'],
  ['workspace_id: other value', () => ({ key: 'workspace_id', value: nobody }), '---------'],
  [
    'workspace_id: list',
    () => ({ key: 'workspace_id', value: [nobody, ids.workspace] }),
    'xxxxxxxxx',
  ],
  ['workspace_id: *', () => ({ key: 'workspace_id', value: '*' }), 'xxxxxxxxx'],
  [
    'workspace_id: excludes',
    () => ({ key: 'workspace_id', value: '*', excludes: ids.slug }),
    '---------',
  ],

  [
    'organisation_id: match',
    () => ({ key: 'organisation_id', value: ids.organisation }),
    'xxxxxxxxx',
  ],
  ['organisation_id: other value', () => ({ key: 'organisation_id', value: nobody }), '---------'],
  [
    'organisation_id: list',
    () => ({ key: 'organisation_id', value: [nobody, ids.organisation] }),
    'xxxxxxxxx',
  ],
  ['organisation_id: *', () => ({ key: 'organisation_id', value: '*' }), 'xxxxxxxxx'],
  [
    'organisation_id: excludes',
    () => ({ key: 'organisation_id', value: '*', excludes: ids.organisation }),
    '---------',
  ],

  ['virtual_key: match', () => ({ key: 'virtual_key', value: 'provider-1' }), 'xxxxxx--x'],
  ['virtual_key: other value', () => ({ key: 'virtual_key', value: 'provider-9' }), '---------'],
  [
    'virtual_key: list',
    () => ({ key: 'virtual_key', value: ['provider-9', 'provider-2'] }),
    '------x--',
  ],
  ['virtual_key: *, absent', () => ({ key: 'virtual_key', value: '*' }), 'xxxxxxx-x'],
  [
    'virtual_key: excludes',
    () => ({ key: 'virtual_key', value: '*', excludes: 'provider-1' }),
    '------x--',
  ],

  ['provider: match', () => ({ key: 'provider', value: 'openai' }), 'xxxxxx-xx'],
  ['provider: other value', () => ({ key: 'provider', value: 'groq' }), '---------'],
  ['provider: list', () => ({ key: 'provider', value: ['groq', 'anthropic'] }), '------x--'],
  ['provider: *', () => ({ key: 'provider', value: '*' }), 'xxxxxxxxx'],
  [
    'provider: excludes',
    () => ({ key: 'provider', value: '*', excludes: ['openai'] }),
    '------x--',
  ],

  ['model: match', () => ({ key: 'model', value: '@provider-1/gpt-4o-mini' }), 'xxxxxx--x'],
  ['model: at a provider', () => ({ key: 'model', value: '@openai/gpt-4o-mini' }), 'xxxxxx--x'],
  ['model: by name', () => ({ key: 'model', value: 'gpt-4o-mini' }), 'xxxxxx--x'],
  ['model: all of a provider', () => ({ key: 'model', value: '@openai/*' }), 'xxxxxx-xx'],
  ['model: other value', () => ({ key: 'model', value: '@provider-1/gpt-4o' }), '---------'],
  [
    'model: list',
    () => ({ key: 'model', value: ['gpt-4o', '@anthropic/claude-sonnet-4-5'] }),
    '------x--',
  ],
  ['model: *', () => ({ key: 'model', value: '*' }), 'xxxxxxxxx'],
  ['model: excludes', () => ({ key: 'model', value: '*', excludes: ['@openai/*'] }), '------x--'],

  ['config: match', () => ({ key: 'config', value: known.config }), 'xxxxxx---'],
  ['config: other value', () => ({ key: 'config', value: 'pc-none' }), '---------'],
  ['config: list', () => ({ key: 'config', value: ['pc-none', known.otherConfig] }), '------x--'],
  ['config: *, absent', () => ({ key: 'config', value: '*' }), 'xxxxxxx--'],
  ['config: excludes', () => ({ key: 'config', value: '*', excludes: known.config }), '------x--'],

  ['prompt: match', () => ({ key: 'prompt', value: known.prompt }), '--------x'],
  ['prompt: other value', () => ({ key: 'prompt', value: 'pp-none' }), '---------'],
  ['prompt: list', () => ({ key: 'prompt', value: ['pp-none', known.prompt] }), '--------x'],
  ['prompt: *, absent', () => ({ key: 'prompt', value: '*' }), '--------x'],
  [
    'prompt: excludes',
    () => ({ key: 'prompt', value: '*', excludes: [known.prompt] }),
    '---------',
  ],
];

/** Budgets are not told apart by endpoint. */
const ofRatesAlone: readonly Row[] = [
  ['endpoint_type: match', () => ({ key: 'endpoint_type', value: 'chatComplete' }), 'xx--xxx-x'],
  ['endpoint_type: other value', () => ({ key: 'endpoint_type', value: 'rerank' }), '---------'],
  [
    'endpoint_type: list',
    () => ({ key: 'endpoint_type', value: ['messages', 'embed'] }),
    '--xx---x-',
  ],
  ['endpoint_type: *', () => ({ key: 'endpoint_type', value: '*' }), 'xxxxxxxxx'],
  [
    'endpoint_type: excludes',
    () => ({ key: 'endpoint_type', value: '*', excludes: 'chatComplete' }),
    '--xx---x-',
  ],
];

/** What a request counts as under each key, as groups write it; of both kinds, save the last. */
const groupsOf = (): Readonly<Record<string, readonly string[]>> => {
  const six = (value: string) => Array<string>(6).fill(value);
  return {
    api_key: [...six(known.key), known.otherKey, known.otherKey, known.key],
    'metadata.team': [...six('red'), 'blue', '', 'red'],
    'metadata._user': [...six('alice'), 'bob', '', 'alice'],
    workspace_id: Array<string>(9).fill(ids.workspace),
    organisation_id: Array<string>(9).fill(ids.organisation),
    virtual_key: [...six('provider-1'), 'provider-2', '', 'provider-1'],
    provider: [...six('openai'), 'anthropic', 'openai', 'openai'],
    model: [
      ...six('%40provider-1%2Fgpt-4o-mini'),
      '%40provider-2%2Fclaude-sonnet-4-5',
      '%40openai%2Ftext-embedding-3-small',
      '%40provider-1%2Fgpt-4o-mini',
    ],
    config: [...six(known.config), known.otherConfig, '', ''],
    prompt: [...six(''), '', '', known.prompt],
    endpoint_type: [
      'chatcomplete',
      'chatcomplete',
      'messages',
      'messages',
      'chatcomplete',
      'chatcomplete',
      'chatcomplete',
      'embed',
      'chatcomplete',
    ],
  };
};
const groupKeys = Object.keys(groupsOf());
/** In the suite with its neighbour (`npm run test:long`: with each other). */
const groupings = groupKeys.flatMap((one, at) => [
  [one],
  ...groupKeys.slice(at + 1, isLongForm ? undefined : at + 2).map((other) => [one, other]),
]);

type Kind = 'rate' | 'usage';
const kinds: readonly Kind[] = ['rate', 'usage'];
/** More than any of these allows. */
const long = 'word '.repeat(300);

let lab: Lab;
let trial: Trial;
/** Names by id: `rate api_key: match`. */
const policies = new Map<string, string>();
/** The same of those that only count, by what they group by: `usage api_key,model`. */
const counting = new Map<string, string>();
let keyOfA = '';
let keyOfB = '';

beforeAll(async () => {
  lab = await startLab();
  trial = lab.trial();
  await prepare();
  await Promise.all(
    kinds.flatMap((kind) => [
      ...rowsOf(kind).map(async ([form, condition]) => {
        policies.set(await newPolicy(kind, tooLittle[kind], [condition()]), `${kind} ${form}`);
      }),
      ...groupingsOf(kind).map(async (keys) => {
        const anybody = [{ key: 'workspace_id', value: '*' }];
        const id = await newPolicy(kind, plenty[kind], anybody, keys);
        counting.set(id, `${kind} ${keys.join()}`);
      }),
    ]),
  );
  await allKnown();
});
afterAll(async () => {
  await trial?.close();
  await lab?.stop();
});

/** So many changes at once are not waited for on a busy machine: of a later one that is in force, those before it are. */
async function allKnown(): Promise<void> {
  const [id] = [...counting].find(([, name]) => name.startsWith('rate')) ?? [];
  await eventually(async () => {
    const { status, headers } = await lab.scenario.call(`/v1/policies/rate-limits/${id}`, {
      method: 'PUT',
      host: null,
      key: lab.scenario.stack.credentials.admin_key,
      body: { name: randomUUID() },
    });
    expect([status, headers.get('x-service-in-force')]).toEqual([200, 'everywhere']);
  });
}

/** In the suite each row is of one of both kinds (`npm run test:long`: of both). */
const ofKind = <T>(rows: readonly T[], kind: Kind) => inTurns(rows, 2, kinds.indexOf(kind));
const rowsOf = (kind: Kind) => [
  ...ofKind(ofBothKinds, kind),
  ...(kind === 'rate' ? ofRatesAlone : []),
];
const groupingsOf = (kind: Kind) => {
  const isOfRates = (keys: readonly string[]) => keys.includes('endpoint_type');
  return [
    ...ofKind(
      groupings.filter((keys) => !isOfRates(keys)),
      kind,
    ),
    ...(kind === 'rate' ? groupings.filter(isOfRates) : []),
  ];
};

const shadow = { type: 'tokens', shadow: true, admission: 'strict' };
const tooLittle = {
  rate: { ...shadow, unit: 'rpd', value: 1 },
  usage: { ...shadow, credit_limit: 100 },
};
const plenty = {
  rate: { type: 'requests', unit: 'rpd', value: 1000 },
  usage: { type: 'requests', credit_limit: 1000 },
};

async function newPolicy(
  kind: Kind,
  limit: object,
  conditions: readonly Condition[],
  groupBy: readonly string[] = ['workspace_id'],
): Promise<string> {
  const { id } = await lab.manage<{ id: string }>(
    'POST',
    `/policies/${kind}-limits?allow_missing=true`,
    {
      ...limit,
      conditions,
      group_by: groupBy.map((key) => ({ key })),
    },
  );
  return id;
}

/** Two keys, two saved providers with a config each, and a prompt at the first. */
async function prepare(): Promise<void> {
  const { stack, admin } = lab.scenario;
  const { workspace_id, workspace_slug } = stack.credentials;
  const chat = await trial.upstreamThat('openai', answerOpenAi);
  const claude = await trial.upstream('anthropic', anthropicReply);
  bare = chat.target();
  const [near, far] = [
    await lab.saveProvider({ aiProviderId: 'openai', key: 'sk-1', customHost: `${chat.url}/v1` }),
    await lab.saveProvider({
      aiProviderId: 'anthropic',
      key: 'sk-2',
      customHost: `${claude.url}/v1`,
    }),
  ];
  const newKey = (name: string) =>
    admin<{ id: string; key: string }>('POST', '/api-keys/workspace/service', {
      name,
      scopes: ['completions.write'],
      workspace_id,
    });
  const [one, other] = [await newKey('one'), await newKey('other')];
  const prompt = await lab.manage<{ slug: string }>('POST', '/prompts', {
    name: 'Saved',
    collection_id: 'default',
    string: JSON.stringify([{ role: 'user', content: long }]),
    parameters: { max_tokens: 500 },
    model: 'gpt-4o-mini',
    virtual_key: near,
  });
  const { organisation_id } = await admin<{ organisation_id: string }>(
    'GET',
    `/api-keys/${one.id}`,
  );
  [keyOfA, keyOfB] = [one.key, other.key];
  Object.assign(known, {
    key: one.id,
    otherKey: other.id,
    config: await lab.saveConfig({ provider: near }),
    otherConfig: await lab.saveConfig({ provider: far }),
    prompt: prompt.slug,
  });
  Object.assign(ids, {
    workspace: workspace_id,
    slug: workspace_slug,
    organisation: organisation_id,
  });
}

/** A target without anything saved. */
let bare: object = {};

function answerOpenAi({ path, body }: RecordedRequest) {
  if (path.endsWith('/embeddings'))
    return json(200, {
      object: 'list',
      model: 'text-embedding-3-small',
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      usage: { prompt_tokens: 300, total_tokens: 300 },
    });
  const { stream } = JSON.parse(body.toString()) as { stream?: boolean };
  return stream === true ? sse(openAiEvents('Hi')) : json(200, chatReply);
}

function asked(request: (typeof requests)[number]): AskOptions {
  const metadata = (values: object) => ({ 'x-service-metadata': JSON.stringify(values) });
  const messages = [{ role: 'user', content: long }];
  const body = { model: 'gpt-4o-mini', max_tokens: 500, messages, user: 'alice' };
  const { user: _, ...withoutUser } = body;
  const red = { key: keyOfA, config: known.config, headers: metadata({ team: 'red' }) };
  const ofAlice = metadata({ team: 'red', _user: 'alice' });
  switch (request) {
    case 'chat':
      return { ...red, body };
    case 'chat, streamed':
      return { ...red, body: { ...body, stream: true } };
    case 'messages, translated':
      return { ...red, headers: ofAlice, path: '/v1/messages', body: withoutUser };
    case 'messages, translated and streamed':
      return {
        ...red,
        headers: ofAlice,
        path: '/v1/messages',
        body: { ...withoutUser, stream: true },
      };
    case 'passed through':
      return { ...red, path: '/v1/proxy/chat/completions', body };
    case 'passed through and streamed':
      return { ...red, path: '/v1/proxy/chat/completions', body: { ...body, stream: true } };
    case 'another key, config, provider, model and team':
      return {
        key: keyOfB,
        config: known.otherConfig,
        headers: metadata({ team: 'blue', _user: 'bob' }),
        // What the header says of the end user wins.
        body: { ...body, model: 'claude-sonnet-4-5', user: 'mallory' },
      };
    case 'without config, saved provider and metadata':
      return {
        key: keyOfB,
        config: bare,
        path: '/v1/embeddings',
        body: { model: 'text-embedding-3-small', input: long },
      };
    case 'a saved prompt':
      return {
        key: keyOfA,
        path: `/v1/prompts/${known.prompt}/completions`,
        headers: ofAlice,
        body: { variables: {} },
      };
  }
}

describe.each(requests.map((request, column) => [request, column] as const))(
  'of %s',
  (request, column) => {
    /** `policy`, or `policy:group`, of each counter of the record. */
    let refusing: string[];
    let groups: ReadonlyMap<string, string>;
    beforeAll(async () => {
      const { answer, rawRecords } = await trial.ask({ ...asked(request), records: 1 });
      expect([answer.status, rawRecords.length]).toEqual([200, 1]);
      const [record] = rawRecords;
      refusing = (record?.wouldHaveRefused ?? []).map((name) => name.split(/[:@]/)[0] ?? '');
      groups = new Map(
        Object.keys(record?.countersReserved ?? {}).map((name) => {
          const [id = '', ...group] = (name.split('@')[0] ?? '').split(':');
          return [id, group.join(':')] as const;
        }),
      );
    });

    it.each(kinds)('policies of %s see what they should', (kind) => {
      const named = refusing.flatMap((id) => policies.get(id) ?? []);
      expect(named.filter((name) => name.startsWith(kind)).toSorted()).toEqual(
        rowsOf(kind)
          .filter(([, , verdicts]) => verdicts[column] === 'x')
          .map(([form]) => `${kind} ${form}`)
          .toSorted(),
      );
    });

    it.each(kinds)('policies of %s count it in its group, by each key and pair', (kind) => {
      const values = groupsOf();
      for (const keys of groupingsOf(kind)) {
        const [id] = [...counting].find(([, name]) => name === `${kind} ${keys.join()}`) ?? [''];
        expect(groups.get(id)).toBe(
          keys.map((key) => `${key}:${values[key]?.[column] ?? ''}`).join(),
        );
      }
    });
  },
);

it('a budget cannot be told apart by endpoint', async () => {
  const conditions = [{ key: 'endpoint_type', value: 'embed' }];
  await expect(newPolicy('usage', plenty.usage, conditions)).rejects.toThrow('400');
});
