import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startUpstream, temporaryFolder, type Upstream } from '@sluice/testkit';
import { request } from 'undici';
import { expect } from 'vitest';
import { chatBody, type Scenario, startScenario } from '../scenario.ts';
import { type Answers, type DnsServer, startDns } from './dns-server.ts';

/** The first gateway trusts nobody; the second has a list. */
export const closed = 0;
export const trusting = 1;
export const publicAddress = '93.184.215.14';
export const trustedHosts: readonly string[] = [
  '127.0.0.1',
  '::1',
  'localhost',
  '8.8.8.8',
  'example.com',
  'llm.corp',
  '*.wild.corp',
  'http://10.0.0.5:8000/v1',
  '10.20.0.0/16',
  '*.models.svc.cluster.local',
  '*.rebind.corp',
];
/** Listed as well, in vain. */
export const droppedEntries: readonly string[] = [
  '169.254.169.254',
  'metadata.google.internal',
  'nip.io',
  '2130706433',
  'kubernetes.default.svc',
];

export interface Answer {
  status: number;
  code: string;
  param: string | null;
  text: string;
}

export interface Ask {
  gateway?: number;
  method?: 'GET' | 'POST';
  path?: string;
  headers?: Record<string, string>;
  body?: object;
}

/**
 * Two running gateways whose sockets lead to a recorder and whose names are
 * answered by a DNS server of the test's own: no packet leaves the machine.
 */
export class OutboundLab {
  readonly scenario: Scenario;
  readonly upstream: Upstream;
  readonly dns: DnsServer;
  readonly #recording: string;

  constructor(scenario: Scenario, upstream: Upstream, dns: DnsServer, recording: string) {
    this.scenario = scenario;
    this.upstream = upstream;
    this.dns = dns;
    this.#recording = recording;
  }

  /** @param more settings of the first and the second gateway, over the lab's own */
  static async start(
    answers: Answers = answerAll,
    more: readonly Record<string, string>[] = [],
  ): Promise<OutboundLab> {
    const [upstream, dns, folder] = await Promise.all([
      startUpstream(),
      startDns(answers),
      temporaryFolder('connections'),
    ]);
    const recording = join(folder, 'connections');
    writeFileSync(recording, '');
    const environment = {
      NODE_OPTIONS: `--import=${pathToFileURL(`${import.meta.dirname}/recorded-sockets.ts`)}`,
      TEST_CONNECTIONS_FILE: recording,
      DNS_SERVERS: `127.0.0.1:${dns.port}`,
      TEST_OPEN_PORTS: String(upstream.port),
      OWN_HOSTS: 'gateway.example.com',
      RESPONSE_BODY_BYTES_MAX: '100000',
      REQUEST_TIMEOUT: '5000',
    };
    const trusted = [...trustedHosts, ...droppedEntries].join(',');
    const scenario = await startScenario({
      processes: ['gateway'],
      gateways: 2,
      environment: {
        gateway: {
          ...environment,
          TRUSTED_CUSTOM_HOSTS: '',
          TRUSTED_CALLER_HOSTS: '',
          ...more[0],
        },
        'gateway-2': {
          ...environment,
          TRUSTED_CUSTOM_HOSTS: trusted,
          TRUSTED_CALLER_HOSTS: trusted,
          ...more[1],
        },
      },
    });
    return new OutboundLab(scenario, upstream, dns, recording);
  }

  /** What was tried to connect to since the last `forget`: `address port`. */
  connections(): string[] {
    return readFileSync(this.#recording, 'utf8').split('\n').filter(Boolean);
  }

  forget(): void {
    writeFileSync(this.#recording, '');
  }

  /** Header values are sent as the bytes of their UTF-8, whatever they are. */
  async ask(asked: Ask): Promise<Answer> {
    const { gateway = closed, method = 'POST', path = '/v1/chat/completions', body } = asked;
    const headers: Record<string, string> = {
      'x-service-api-key': this.scenario.stack.credentials.workspace_key,
      authorization: 'Bearer sk-upstream',
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      ...asked.headers,
    };
    for (const name in headers) headers[name] = Buffer.from(headers[name] ?? '').toString('latin1');
    const response = await request(`${this.scenario.stack.gatewayUrls[gateway]}${path}`, {
      method,
      headers,
      body: method === 'POST' ? JSON.stringify(body ?? chatBody) : undefined,
    });
    const text = await response.body.text();
    const { code = '', param = null } = errorIn(text);
    return { status: response.statusCode, code, param, text };
  }

  async expectRefused(asked: Ask, param?: string): Promise<void> {
    const answer = await this.ask(asked);
    expect([answer.status, answer.code], answer.text).toEqual([400, 'host.invalid']);
    if (param !== undefined) expect(answer.param).toBe(param);
    expect(this.connections()).toEqual([]);
  }

  /** The way leads there, and ends at the recorder. */
  async expectAllowed(asked: Ask, connection: string): Promise<void> {
    const answer = await this.ask(asked);
    expect([answer.status, answer.code], answer.text).toEqual([503, 'upstream.unreachable']);
    // Of localhost the system may know a second address.
    const [first, ...others] = this.connections();
    expect(first).toBe(connection);
    const second = connection.replace(/^127\.0\.0\.1 /, '::1 ');
    expect(others.filter((other) => other !== second || first === second)).toEqual([]);
  }

  async stop(): Promise<void> {
    await this.scenario.stop();
    await this.upstream.close();
    this.dns.close();
  }
}

const answerAll: Answers = (_name, family) => (family === 4 ? [publicAddress] : []);

function errorIn(text: string): { code?: string; param?: string | null } {
  try {
    return (JSON.parse(text) as { error?: object }).error ?? {};
  } catch {
    // An answer of the upstream's.
    return {};
  }
}

export const byHeader = (url: string): Record<string, string> => ({
  'x-service-provider': 'openai',
  'x-service-custom-host': url,
});

export const byConfig = (target: object): Record<string, string> => ({
  'x-service-config': JSON.stringify({ provider: 'openai', api_key: 'sk-x', ...target }).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  ),
});
