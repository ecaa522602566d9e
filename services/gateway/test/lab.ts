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
  stop(): Promise<void>;
}

export async function startLab(options: TestStackOptions = {}): Promise<Lab> {
  const scenario = await startScenario({ ...options, nats: true });
  const records = await readRecords(scenario.stack.nats?.url ?? '');
  let saved = 0;
  return {
    scenario,
    records,
    trial: () => new Trial(scenario, records),
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

async function saveConfig(scenario: Scenario, name: string, document: object): Promise<string> {
  const { workspace_id } = scenario.stack.credentials;
  const body = { name, config: document, workspace_id };
  const { data } = await scenario.admin<{ data: { id: string } }>('POST', '/configs', body);
  const list = await scenario.admin<{ data: { id: string; slug: string }[] }>(
    'GET',
    `/configs?workspace_id=${workspace_id}&page_size=1000`,
  );
  const slug = list.data.find(({ id }) => id === data.id)?.slug ?? '';
  for (const gateway of scenario.stack.gatewayUrls.keys())
    await eventually(async () => {
      // The config is looked up before the body is read: no upstream is called by asking so.
      const response = await scenario.call('/v1/chat/completions', {
        gateway,
        host: null,
        headers: { 'x-service-config': slug },
        rawBody: '{',
      });
      const { code } = await errorOf(response);
      if (code === 'config.not_found') throw new Error(`gateway ${gateway} does not know ${slug}`);
    });
  return slug;
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
  return {
    path: record.optionPath,
    outcome: usage.Outcome[record.outcome] as RecordView['outcome'],
    status: record.statusCode,
    code: record.errorCode,
    attempt: record.attempt,
    retries: record.retryCount,
    tokens: record.usageReported ? [Number(record.inputTokens), Number(record.outputTokens)] : null,
    costNanoUsd: record.costKnown ? Number(record.costNanoUsd) : null,
  };
}
