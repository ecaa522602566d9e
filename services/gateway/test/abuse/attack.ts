import { readFileSync } from 'node:fs';
import { isLongForm } from '@sluice/testkit';
import { asUsual } from '@sluice/testkit/own-time';
import { Pool } from 'undici';
import { expect } from 'vitest';
import type { Scenario } from '../scenario.ts';
import type { Bystander, BystanderReport } from './bystander.ts';
import type { HostileRequest } from './places.ts';

/** What the whole suite promises of a gateway under attack. */
export const promises = {
  /** The other caller waits at most so much longer than usual. */
  extraWaitMs: 100,
  residentMb: 400,
  metricLines: 2000,
};

/** `npm run abuse` has the machine to itself; the suite runs other tests beside this one. */
const isQuiet = isLongForm && process.env.SLUICE_ABUSE_BUSY !== 'true';

export interface Case {
  name: string;
  request: () => HostileRequest;
}

export interface Outcome {
  cases: number;
  /** How often each status was answered; 0 = the connection was closed without an answer. */
  statuses: ReadonlyMap<number, number>;
  longestWaitMs: number;
  medianWaitMs: number;
  /** The longest that the gateway itself worked during one wait. */
  longestBusyMs: number;
  residentMb: number;
}

/** Answers a hostile request may get: refused, or served, never a fault of ours. */
const acceptable = new Set([
  0, 200, 206, 246, 400, 401, 403, 404, 405, 408, 413, 414, 415, 417, 422, 429, 431, 446, 502, 503,
  504,
]);

/** Sends hostile requests, a few at a time, while the bystander's waits are measured. */
export class Attack {
  readonly #scenario: Scenario;
  readonly #bystander: Bystander;
  readonly #pool: Pool;
  readonly #connections: number;
  readonly #statuses = new Map<number, number>();
  #cases = 0;
  #longestWaitMs = 0;
  #medianWaitMs = 0;
  #longestBusyMs = 0;
  #residentMb = 0;

  /** @param connections on which it sends at once */
  constructor(scenario: Scenario, bystander: Bystander, connections = 4) {
    this.#scenario = scenario;
    this.#bystander = bystander;
    this.#connections = connections;
    this.#pool = new Pool(scenario.stack.gatewayUrls[0] ?? '', {
      connections,
      pipelining: 1,
      headersTimeout: 30_000,
      bodyTimeout: 30_000,
    });
  }

  /**
   * All cases, in batches. A batch during which the bystander waited too long
   * is sent again: a machine that was busy elsewhere is so once, an input that
   * blocks the gateway blocks it each time, and then its cases are tried alone.
   * Fails in the end, naming all that do.
   */
  async send(cases: readonly Case[], batchSize = 40): Promise<void> {
    await this.#bystander.report();
    const guilty: string[] = [];
    for (let at = 0; at < cases.length; at += batchSize) {
      const batch = cases.slice(at, at + batchSize);
      const seen = await this.#sendBatch(batch);
      if (this.#isTooLong(seen)) guilty.push(...(await this.#findGuilty(batch)));
      else this.#note(seen);
      const residentMb = this.residentMb();
      this.#residentMb = Math.max(this.#residentMb, residentMb);
      if (residentMb > promises.residentMb)
        guilty.push(`${batch[0]?.name} … ${batch.at(-1)?.name}: ${Math.round(residentMb)} MB`);
    }
    expect(guilty, 'these make another caller wait, or hold too much').toEqual([]);
  }

  outcome(): Outcome {
    return {
      cases: this.#cases,
      statuses: this.#statuses,
      longestWaitMs: Math.round(this.#longestWaitMs),
      medianWaitMs: Math.round(this.#medianWaitMs * 10) / 10,
      longestBusyMs: Math.round(this.#longestBusyMs),
      residentMb: Math.round(this.#residentMb),
    };
  }

  residentMb(): number {
    const pid = this.#scenario.stack.part('gateway').pid as number;
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  async #sendBatch(batch: readonly Case[]): Promise<BystanderReport> {
    const waiting = [...batch];
    const sendAll = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        await this.#sendOne(next);
    };
    await Promise.all(Array.from({ length: this.#connections }, sendAll));
    const seen = await this.#bystander.report();
    expect(seen.faults, `while ${batch[0]?.name} … ${batch.at(-1)?.name}`).toEqual([]);
    return seen;
  }

  async #sendOne({ name, request }: Case): Promise<void> {
    const { path, headers, body } = request();
    const status = await this.#ask(path, headers, body);
    this.#cases += 1;
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    expect(acceptable.has(status), `${status} for ${name}`).toBe(true);
  }

  async #ask(path: string, headers: [string, string][], body: Buffer): Promise<number> {
    const { workspace_key } = this.#scenario.stack.credentials;
    const key: [string, string][] = headers.some(([name]) => name === 'x-service-api-key')
      ? []
      : [['x-service-api-key', workspace_key]];
    try {
      const answer = await this.#pool.request({
        method: 'POST',
        path,
        // Values are the bytes that they are: nobody writes UTF-8 there for us.
        headers: [...key, ...headers].flat(),
        body,
      });
      await answer.body.dump({ limit: 64 * 1024 * 1024 });
      return answer.statusCode;
    } catch (error) {
      // Refused while it was still being sent: the connection may close before the answer is read.
      if (['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes((error as { code: string }).code))
        return 0;
      throw error;
    }
  }

  /** On a quiet machine all of a wait is the gateway's; beside other work only what it worked itself, as a machine of usual speed would. */
  #isTooLong({ longestMs, medianMs, longestBusyMs, medianBusyMs }: BystanderReport): boolean {
    return isQuiet
      ? longestMs > medianMs + promises.extraWaitMs
      : asUsual(longestBusyMs - medianBusyMs) > promises.extraWaitMs;
  }

  #note({ longestMs, medianMs, longestBusyMs }: BystanderReport): void {
    this.#longestBusyMs = Math.max(this.#longestBusyMs, longestBusyMs);
    this.#longestWaitMs = Math.max(this.#longestWaitMs, longestMs);
    this.#medianWaitMs = Math.max(this.#medianWaitMs, medianMs);
  }

  async #findGuilty(batch: readonly Case[]): Promise<string[]> {
    for (let again = 0; again < 2; again++) {
      const seen = await this.#sendBatch(batch);
      if (!this.#isTooLong(seen)) {
        this.#note(seen);
        return [];
      }
    }
    const guilty: string[] = [];
    for (const one of batch) {
      let seen: BystanderReport | undefined;
      for (let again = 0; again < 3; again++) {
        seen = await this.#sendBatch([one]);
        if (!this.#isTooLong(seen)) break;
      }
      if (seen !== undefined && this.#isTooLong(seen))
        guilty.push(
          `${one.name}: ${Math.round(seen.longestMs)} ms, of them ${Math.round(seen.longestBusyMs)} of work`,
        );
    }
    // A batch of one that passed in the end has passed; cases that only hurt together are guilty together.
    if (guilty.length > 0 || batch.length === 1) return guilty;
    return [`${batch.map(({ name }) => name).join(' with ')}`];
  }
}

/** One line for the reader of the run: what was sent, and how the other caller fared so far. */
export function tell(what: string, cases: number, outcome: Outcome): void {
  const statuses = [...outcome.statuses].sort(([a], [b]) => a - b);
  process.stdout.write(
    `abuse: ${what}: ${cases} cases; longest wait of another caller ${outcome.longestWaitMs} ms ` +
      `(usual ${outcome.medianWaitMs} ms, work in one ${outcome.longestBusyMs} ms), RSS ${outcome.residentMb} MB; answers so far ` +
      `${statuses.map(([status, count]) => `${status || 'closed'} × ${count}`).join(', ')}\n`,
  );
}
