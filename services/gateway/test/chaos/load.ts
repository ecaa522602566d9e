import { setTimeout as delay } from 'node:timers/promises';
import { json, type RecordedRequest, type UpstreamReply } from '@sluice/testkit';
import { chatBody, chatReply, type Scenario } from '../scenario.ts';

/** Requests, each with a name of its own, and what came of them on both sides. */
export class Load {
  readonly #scenario: Scenario;
  /** How often the provider was called, by the name of the request. */
  readonly calls = new Map<string, number>();
  /** Of requests that have ended: the status; 0 = no answer came. */
  readonly statuses = new Map<string, number>();
  /** Which gateway was asked. */
  readonly gateways = new Map<string, number>();
  #sent = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    scenario.upstream.handle(this.#answer);
  }

  /** So many requests of twenty callers; resolves when all have ended. */
  async send(count: number): Promise<void> {
    const last = this.#sent + count;
    const caller = async () => {
      while (this.#sent < last) await this.#ask(`chaos-${this.#sent++}`);
    };
    await Promise.all(Array.from({ length: 20 }, caller));
    // What is recorded of the calls is not part of what the test looks at, and must not pile up.
    this.#scenario.upstream.requests.length = 0;
  }

  async #ask(name: string): Promise<void> {
    const { stack, upstream, chat } = this.#scenario;
    const gateway = Math.floor(Math.random() * stack.gatewayUrls.length);
    this.gateways.set(name, gateway);
    try {
      const response = await chat({
        gateway,
        host: null,
        body: { ...chatBody, messages: [{ role: 'user', content: name }] },
        headers: {
          'x-service-trace-id': name,
          'x-service-config': JSON.stringify({
            provider: 'openai',
            api_key: 'sk-upstream',
            custom_host: `${upstream.url}/v1`,
            retry: { attempts: 1, on_status_codes: [503] },
          }),
        },
      });
      await response.arrayBuffer();
      this.statuses.set(name, response.status);
    } catch {
      this.statuses.set(name, 0);
      // A gateway that is down refuses at once: its callers would use up all names.
      await delay(50);
    }
  }

  /** Every thirtieth request is refused at first, and asked again. */
  readonly #answer = async (request: RecordedRequest): Promise<UpstreamReply> => {
    const { messages } = request.json() as { messages: { content: string }[] };
    const name = messages[0]?.content ?? '';
    const before = this.calls.get(name) ?? 0;
    this.calls.set(name, before + 1);
    await delay(Math.random() * 10);
    const isRefused = before === 0 && Number(name.slice('chaos-'.length)) % 30 === 0;
    return isRefused ? json(503, { error: { message: 'later' } }) : json(200, chatReply);
  };
}
