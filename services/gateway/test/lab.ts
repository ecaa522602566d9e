import { usage } from '@sluice/proto-stubs';
import {
  eventually,
  startUpstream,
  type TestStackOptions,
  type Upstream,
  type UpstreamHandler,
  type UpstreamReply,
} from '@sluice/testkit';
import { type Records, readRecords } from './records.ts';
import { type CallOptions, chatBody, errorOf, type Scenario, startScenario } from './scenario.ts';

/** A running Sluice whose usage records are read from NATS, for cases that bring their own upstreams. */
export interface Lab {
  scenario: Scenario;
  records: Records;
  trial(): Trial;
  /** Saves a config and returns its slug once every gateway knows it. */
  saveConfig(document: object): Promise<string>;
  /** Saves a provider with its integration and returns `@slug` once every gateway knows it. */
  saveProvider(settings: ProviderSettings): Promise<string>;
  /** The admin API, with the workspace key. Fails on anything but 200. */
  manage<T>(method: string, path: string, body?: object): Promise<T>;
  stop(): Promise<void>;
}

export interface ProviderSettings {
  aiProviderId: string;
  key: string;
  customHost: string;
  configurations?: Record<string, unknown>;
  rateLimits?: readonly object[];
}

export async function startLab(options: TestStackOptions = {}): Promise<Lab> {
  // What it reads of records comes from NATS.
  const scenario = await startScenario({ ...options, nats: true });
  const records = await readRecords(scenario.stack.nats?.url ?? '');
  let saved = 0;

  const manage: Lab['manage'] = async <T>(method: string, path: string, body?: object) => {
    const response = await scenario.call(`/v1${path}`, { method, host: null, body });
    if (response.status !== 200)
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };

  return {
    scenario,
    records,
    manage,
    trial: () => new Trial(scenario, records),
    async saveProvider(settings) {
      saved += 1;
      const slug = `provider-${saved}`;
      await manage('POST', '/integrations', {
        name: slug,
        slug,
        ai_provider_id: settings.aiProviderId,
        key: settings.key,
        configurations: { custom_host: settings.customHost, ...settings.configurations },
        create_default_provider: false,
      });
      await manage('POST', '/providers', {
        name: slug,
        slug,
        integration_id: slug,
        rate_limits: settings.rateLimits,
      });
      await everyGatewayKnows(scenario, 'provider.not_found', {
        host: 'http://10.0.0.1',
        headers: { 'x-service-provider': `@${slug}` },
      });
      return `@${slug}`;
    },
    async saveConfig(document) {
      saved += 1;
      return saveConfig(scenario, `Config ${saved}`, document);
    },
    async stop() {
      await records.close();
      await scenario.stop();
    },
  };
}

export async function saveConfig(
  scenario: Scenario,
  name: string,
  document: object,
): Promise<string> {
  const { workspace_id } = scenario.stack.credentials;
  const body = { name, config: document, workspace_id };
  const created = await scenario.admin<{ data: { slug: string } }>('POST', '/configs', body);
  const { slug } = created.data;
  // The config is looked up before the body is read: no upstream is called by asking so.
  await everyGatewayKnows(scenario, 'config.not_found', {
    host: null,
    headers: { 'x-service-config': slug },
    rawBody: '{',
  });
  return slug;
}

/** Asks for something that is refused, until it is not refused as unknown any more. */
async function everyGatewayKnows(
  scenario: Scenario,
  unknown: string,
  call: CallOptions,
): Promise<void> {
  for (const gateway of scenario.stack.gatewayUrls.keys())
    await eventually(async () => {
      const { code } = await errorOf(await scenario.chat({ ...call, gateway }));
      if (code === unknown) throw new Error(`gateway ${gateway} still answers ${unknown}`);
    });
}

export interface AskOptions extends Omit<CallOptions, 'host'> {
  /** For the table of the fault suite. */
  label?: string;
  path?: string;
  /** An inline document, or the slug of a saved one. */
  config?: object | string;
  /** How many usage records the request must leave; undefined = they are not looked at. */
  records?: number;
}

/** One request and all that became of it. */
export interface Asked {
  label: string;
  answer: Answer;
  /** Names of the upstreams in the order in which they were called. */
  calls: string[];
  records: RecordView[];
  rawRecords: usage.UsageRecord[];
}

export interface Answer {
  status: number;
  headers: Headers;
  /** One of the gateway's own headers, without their prefix. */
  own(name: string): string | null;
  text: string;
  /** The body as JSON; undefined when it is none. */
  json: unknown;
  /** The connection broke before the end of the body. */
  wasCut: boolean;
  elapsedMs: number;
}

/** Of a usage record what routing decides. */
export interface RecordView {
  path: string;
  outcome: keyof typeof usage.Outcome;
  status: number;
  code: string;
  attempt: number;
  retries: number;
  /** Input and output; null = the upstream reported none. */
  tokens: [number, number] | null;
  /** Null also where tokens are estimated, for want of a report. */
  costNanoUsd: number | null;
}

export interface NamedUpstream extends Upstream {
  readonly name: string;
  /** A config target at this upstream. */
  target(over?: object): Record<string, unknown>;
}

/** One case: upstreams of its own, and what it asked of the gateway so far. */
export class Trial {
  readonly asked: Asked[] = [];
  readonly scenario: Scenario;
  readonly #records: Records;
  readonly #upstreams: NamedUpstream[] = [];
  #calls: string[] = [];

  constructor(scenario: Scenario, records: Records) {
    this.scenario = scenario;
    this.#records = records;
  }

  /** An upstream that gives these replies one after the other, and the last one from then on. */
  upstream(name: string, ...replies: UpstreamReply[]): Promise<NamedUpstream> {
    let next = 0;
    return this.upstreamThat(name, () => {
      const reply = replies[Math.min(next, replies.length - 1)];
      next += 1;
      if (reply === undefined) throw new Error(`upstream ${name} has no reply`);
      return reply;
    });
  }

  async upstreamThat(
    name: string,
    handler: Extract<UpstreamHandler, (...args: never[]) => unknown>,
  ): Promise<NamedUpstream> {
    const upstream = await startUpstream((request) => {
      this.#calls.push(name);
      return handler(request);
    });
    const named = Object.assign(upstream, {
      name,
      target: (over: object = {}) => ({
        provider: 'openai',
        api_key: `sk-${name}`,
        custom_host: `${upstream.url}/v1`,
        ...over,
      }),
    });
    this.#upstreams.push(named);
    return named;
  }

  async ask(options: AskOptions): Promise<Asked> {
    const { label = '', path = '/v1/chat/completions', config, records, ...call } = options;
    const callsBefore = this.#calls.length;
    const configHeader = typeof config === 'object' ? JSON.stringify(config) : config;
    const startedAt = performance.now();
    const response = await this.scenario.call(path, {
      body: chatBody,
      ...call,
      host: null,
      headers: {
        ...(configHeader === undefined ? {} : { 'x-service-config': configHeader }),
        ...call.headers,
      },
    });
    const answer = await readAnswer(response, startedAt);
    const rawRecords =
      records === undefined ? [] : await this.#records.of(answer.own('request-id') ?? '', records);
    const asked = {
      label,
      answer,
      calls: this.#calls.slice(callsBefore),
      records: rawRecords.map(viewOf),
      rawRecords,
    };
    this.asked.push(asked);
    return asked;
  }

  async close(): Promise<void> {
    await Promise.all(this.#upstreams.map((upstream) => upstream.close()));
  }
}

async function readAnswer(response: Response, startedAt: number): Promise<Answer> {
  const pieces: Buffer[] = [];
  let wasCut = false;
  try {
    for await (const piece of response.body ?? []) pieces.push(Buffer.from(piece));
  } catch {
    wasCut = true;
  }
  const text = Buffer.concat(pieces).toString();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // A stream, or nothing.
  }
  return {
    status: response.status,
    headers: response.headers,
    own: (name) => response.headers.get(`x-service-${name}`),
    text,
    json,
    wasCut,
    elapsedMs: performance.now() - startedAt,
  };
}

function viewOf(record: usage.UsageRecord): RecordView {
  const isCharged = record.costKnown && !record.usageEstimated;
  return {
    path: record.optionPath,
    outcome: usage.Outcome[record.outcome] as RecordView['outcome'],
    status: record.statusCode,
    code: record.errorCode,
    attempt: record.attempt,
    retries: record.retryCount,
    tokens: record.usageReported ? [Number(record.inputTokens), Number(record.outputTokens)] : null,
    costNanoUsd: isCharged ? Number(record.costNanoUsd) : null,
  };
}
