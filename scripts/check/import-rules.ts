import type { KnotException } from './folder-knots.ts';

/**
 * Who may import whom, as `docs/` draws it: a part may import the parts listed
 * for it, and what those list, and nothing else of ours. A part that is not
 * listed may be imported by nobody.
 */
export const partRules: Readonly<Record<string, readonly string[]>> = {
  'packages/contracts': [],
  'packages/errors': ['packages/contracts'],
  'packages/data-dir': ['packages/env'],
  'packages/env': ['packages/errors'],
  'packages/telemetry': ['packages/errors'],
  'packages/aws-signature': ['packages/errors'],
  'packages/object-store': ['packages/aws-signature', 'packages/env'],
  'packages/proto-stubs': [],
  'packages/json': [],
  'packages/a2a': ['packages/json'],
  'packages/log-content': ['packages/json'],
  'packages/providers': ['packages/errors', 'packages/json'],
  'packages/engine': ['packages/errors', 'packages/json'],
  'packages/guardrails': ['packages/engine', 'packages/jwt', 'packages/providers'],
  'packages/mcp': ['packages/guardrails'],
  'packages/outbound': ['packages/errors'],
  'packages/jwt': ['packages/json', 'packages/outbound'],
  'packages/pricing': ['packages/errors'],
  'packages/price-files': [
    'packages/env',
    'packages/json',
    'packages/pricing',
    'packages/signed-files',
  ],
  'packages/signed-files': ['packages/env'],
  'packages/rpc': ['packages/env', 'packages/proto-stubs'],
  'packages/service': ['packages/env', 'packages/otlp', 'packages/rpc', 'packages/telemetry'],
  'packages/usage': ['packages/proto-stubs'],
  'packages/demo-upstream': [],
  'packages/stack': ['packages/demo-upstream'],
  'packages/otlp': ['packages/env', 'packages/json', 'packages/proto-stubs'],
  'packages/testkit': [
    'packages/otlp',
    'packages/service',
    'packages/stack',
    'packages/demo-upstream',
  ],
  'services/gateway': [
    'packages/a2a',
    'packages/aws-signature',
    'packages/data-dir',
    'packages/engine',
    'packages/env',
    'packages/guardrails',
    'packages/json',
    'packages/jwt',
    'packages/log-content',
    'packages/mcp',
    'packages/object-store',
    'packages/otlp',
    'packages/outbound',
    'packages/price-files',
    'packages/pricing',
    'packages/proto-stubs',
    'packages/providers',
    'packages/rpc',
    'packages/service',
    'packages/signed-files',
    'packages/telemetry',
    'packages/usage',
  ],
  'services/control-plane': [
    'packages/a2a',
    'packages/engine',
    'packages/env',
    'packages/guardrails',
    'packages/json',
    'packages/jwt',
    'packages/log-content',
    'packages/mcp',
    'packages/object-store',
    'packages/otlp',
    'packages/outbound',
    'packages/price-files',
    'packages/pricing',
    'packages/proto-stubs',
    'packages/providers',
    'packages/rpc',
    'packages/service',
    'packages/signed-files',
    'packages/telemetry',
    'packages/usage',
  ],
  'services/data-service': [
    'packages/data-dir',
    'packages/env',
    'packages/json',
    'packages/log-content',
    'packages/object-store',
    'packages/otlp',
    'packages/pricing',
    'packages/proto-stubs',
    'packages/rpc',
    'packages/service',
    'packages/telemetry',
    'packages/usage',
  ],
  scripts: [
    'packages/engine',
    'packages/price-files',
    'packages/pricing',
    'packages/usage',
    'packages/stack',
    'packages/demo-upstream',
    'packages/proto-stubs',
    'packages/providers',
    'packages/rpc',
    'packages/contracts',
    'packages/telemetry',
    // Their settings, and how a gateway holds what the control plane tells (npm run scale).
    'services/gateway',
    'services/control-plane',
    'services/data-service',
  ],
};

/** Test files may also import these, from any part. */
export const testOnlyParts: readonly string[] = [
  'packages/testkit',
  'packages/demo-upstream',
  'packages/stack',
];

/** Rows of folders, each with those it may import, and what those may; a file beside the folders only where it is named. */
export type FolderRules = Readonly<Record<string, readonly string[]>>;

/**
 * Inside the services, types included. A row is a folder of `src/`, or one below
 * it where that has a row of its own. What is deeper is the folder's own affair,
 * as long as there are no knots in it.
 */
export const folderRules: Readonly<Record<string, FolderRules>> = {
  'services/gateway': {
    // What is built once, in this order, and joined by `wiring.ts`.
    wiring: [
      'parts',
      'tool-loop',
      'app.ts',
      'load-model-overrides.ts',
      'metrics.ts',
      'opt-in-labels.ts',
      'settings.ts',
    ],
    // What has to be opened and closed, built of what the folders offer.
    parts: [
      'agents',
      'visit',
      'content',
      'otlp',
      'jwt-keys',
      'upstream-auth',
      'config-sync',
      'mcp',
      'stored',
      'realtime',
      'grpc',
      'settings.ts',
    ],
    // Files and batches that the service itself keeps.
    stored: ['routes'],
    // Requests to MCP servers have a way of their own through the gateway, beside the pipelines of models.
    mcp: ['routes', 'redis', 'metering'],
    // What is held over WebSockets: opened by a pipeline, counted as calls are.
    realtime: ['routes', 'money'],
    // The other way that callers come: what pipelines are given and answer is the same.
    grpc: ['routes'],
    // Models that are asked, tools that are called, and models asked again.
    'tool-loop': ['mcp', 'pipeline'],
    routes: ['agents', 'pipeline', 'metrics.ts'],
    // Calls of agents: stages of their own.
    agents: ['pipeline', 'metering', 'identity'],
    // Who calls, as servers and agents are told it.
    identity: ['held'],
    pipeline: ['visit', 'jwt-keys'],
    // One target: each step asks one of these.
    visit: [
      'calls',
      'routing',
      'owners',
      'guardrails',
      'cache',
      'limits',
      'usage',
      'held',
      'content',
    ],
    // Calls of servers and agents, counted and recorded.
    metering: ['children', 'content', 'limits', 'money', 'usage'],
    // What agents' own calls come to, for what the agents report.
    children: ['exchange', 'redis'],
    calls: ['exchange'],
    // Bodies on their way to the log store.
    content: ['exchange'],
    // Records and bodies on their way to receivers of OpenTelemetry.
    otlp: ['content', 'usage'],
    'upstream-auth': ['calls', 'cloud-settings.ts'],
    // What attempts come to is heard here, from the ground floor: calls know none of them.
    routing: ['exchange', 'redis'],
    // Whose an object is that stays at a provider.
    owners: ['exchange', 'redis'],
    money: ['exchange'],
    limits: ['exchange', 'redis'],
    usage: ['exchange'],
    guardrails: ['exchange'],
    cache: ['exchange', 'redis'],
    'jwt-keys': ['exchange', 'held'],
    exchange: ['compiled'],
    'config-sync': ['held'],
    held: ['compiled'],
    compiled: ['http'],
    redis: ['chain'],
    http: ['chain'],
    chain: [],
  },
  'services/control-plane': {
    // What is built once, in this order, and joined by `wiring.ts`.
    wiring: [
      'parts',
      'batches',
      'config-sync',
      'followed',
      'kernel/migrations',
      'oauth',
      'provisioning',
      'simulation',
      'app.ts',
      'operations.ts',
      'settings.ts',
    ],
    // What starts and stops, made of the domains.
    parts: ['people', 'ledger', 'limits', 'settings.ts'],
    // What is made with others: they know nothing of it.
    provisioning: ['people', 'tools'],
    'config-sync': ['people', 'ledger', 'tools'],
    // People let clients use MCP servers.
    oauth: ['people', 'tools'],
    // Replays what was logged with configs, policies and prices.
    simulation: ['config-sync'],
    // Keys and workspaces name configs and guardrails, and have limits.
    people: ['documents'],
    // A prompt names a provider.
    documents: ['models'],
    // Settings of servers and agents come from secret managers, too, and servers name guardrails.
    tools: ['documents'],
    models: ['limits'],
    limits: ['kernel/tenancy'],
    ledger: ['kernel/tenancy'],
    // Files, batches and their jobs, as the other services know them.
    batches: ['kernel/tenancy'],
    followed: ['kernel/tenancy'],
    'kernel/tenancy': ['kernel/http'],
    'kernel/http': ['kernel/access', 'kernel/database'],
    'kernel/openapi': ['kernel/names'],
    'kernel/access': [],
    'kernel/migrations': ['kernel/names'],
    'kernel/database': ['kernel/audit', 'kernel/credentials', 'kernel/names'],
    'kernel/audit': ['kernel/names'],
    'kernel/credentials': [],
    'kernel/names': [],
  },
  'services/data-service': {
    rpc: ['queries', 'rejects', 'retention', 'seals', 'sinks', 'files', 'control-plane'],
    // Batches over the files that callers leave, run line by line through a gateway.
    batches: ['files', 'control-plane', 'through-gateway', 'settings.ts', 'pause.ts'],
    // Work that goes on at providers, looked at through a gateway.
    followed: ['control-plane', 'through-gateway', 'settings.ts', 'pause.ts'],
    'through-gateway': [],
    files: [],
    // What the control plane is asked and told.
    'control-plane': [],
    consumers: ['sinks'],
    rejects: ['queries', 'sinks'],
    seals: ['columns', 'queries'],
    retention: ['queries', 'seals'],
    // What is stored marks what must be rolled up again.
    sinks: ['columns', 'rollups', 'queries', 'seals', 'metrics.ts', 'pause.ts'],
    rollups: ['queries', 'metrics.ts'],
    queries: [],
    clickhouse: ['columns', 'queries'],
    // Rows as ClickHouse's Native format has them, read off protobuf's.
    columns: [],
    speed: ['clickhouse', 'rpc', 'queries', 'rollups', 'sinks', 'metrics.ts'],
  },
};

/** Arrows between folders that would close a knot, each with the reason why it stays. */
export const knotExceptions: readonly KnotException[] = [
  {
    from: 'services/control-plane/src/models/providers',
    to: 'services/control-plane/src/models/integrations',
    because: 'a provider is a grant of an integration, and granting makes the provider',
  },
];

/** Packages from npm that only some files may import. `files` are path prefixes or endings. */
export const packageRules: readonly PackageRule[] = [
  {
    package:
      /^(express|undici|@prisma\/.*|prisma|@nats-io\/.*|nats|ioredis|pg|@sluice\/env|@grpc\/.*)$/,
    forbiddenIn: [
      'packages/engine/',
      'packages/guardrails/',
      'packages/mcp/',
      'packages/providers/',
      'packages/pricing/',
    ],
    because: 'engine, guardrails, mcp, providers and pricing are pure',
  },
  {
    package: /^(?!zod$|@sluice\/|node:|fast-check$|vitest$)/,
    forbiddenIn: ['packages/contracts/'],
    because: 'contracts knows only zod',
  },
  {
    package: /^@nats-io\/|^nats$/,
    inService: true,
    allowedIn: [/\/consumers\//, /\/[a-z-]*publisher\.ts$/, /\/wiring\.ts$/, /\/nats[a-z-]*\.ts$/],
    because: 'NATS is met in publishers and consumers, and connected in wiring.ts',
  },
  {
    package: /^@clickhouse\/|^chdb$/,
    inService: true,
    allowedIn: [/\/sinks\//, /\/queries\//, /\/clickhouse\//, /\/wiring\.ts$/],
    because: 'ClickHouse is met in sinks, queries and the clickhouse folder',
  },
  {
    package: /^ioredis$/,
    inService: true,
    allowedIn: [/\/redis\//],
    because: 'Redis is met in the redis folder',
  },
  {
    package: /^@prisma\/|^prisma(\/|$)/,
    inService: true,
    allowedIn: [
      /store\.ts$/,
      /\/database[a-z-]*\.ts$/,
      /\/database\//,
      /\/wiring\.ts$/,
      /\/generated\//,
      /\/bootstrap\.ts$/,
    ],
    because: 'Prisma is met in store.ts files and connected in one place',
  },
];

export interface PackageRule {
  package: RegExp;
  /** Path prefixes where the package must not appear. */
  forbiddenIn?: readonly string[];
  /** With `inService`: the only source files of services where it may appear. */
  allowedIn?: readonly RegExp[];
  inService?: boolean;
  because: string;
}
