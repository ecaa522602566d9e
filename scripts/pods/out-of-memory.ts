import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface OutOfMemoryOptions {
  readonly gateway: string;
  readonly adminKey: string;
  readonly workspaceKey: string;
  /** Whose container it is. */
  process(): { pid: number; restarts: number };
  /** Sets what the container may use, in bytes. */
  limitMemory(bytes: number): void;
  call(key: string, path: string, body?: object): Promise<Response>;
  report(what: string, faults?: readonly unknown[]): void;
  until<Value>(what: string, check: () => Promise<Value | undefined>): Promise<Value>;
}

/** Requests at once, and bytes of each while the memory is to run out. */
const [atOnce, largeBytes] = [24, 4 * 1024 * 1024];

/**
 * The kernel ends a gateway for want of memory under load; it comes back on its volume. Each request that the provider was asked is in
 * the ledger once, and the ledger names no gap.
 */
export async function outOfMemory(options: OutOfMemoryOptions): Promise<void> {
  const { call, report, until } = options;
  const witness = await startWitness();
  const { data } = (await (await call(options.adminKey, '/v1/admin/workspaces')).json()) as {
    data: { id: string }[];
  };
  await call(options.adminKey, '/v1/integrations', {
    name: 'witness',
    slug: 'witness',
    ai_provider_id: 'openai',
    key: 'sk-witness',
    workspace_id: data[0]?.id,
    configurations: { custom_host: `http://127.0.0.1:${witness.port}/v1` },
    create_default_provider: true,
    default_provider_slug: 'witness',
  });
  const load = { padding: 1000, answered: new Set<string>(), isOver: false, sent: 0 };
  const first = options.process();
  const killedBefore = killedByKernel();
  const clients = Array.from({ length: atOnce }, () => keepAsking(options, load));
  await until('the load', async () => (load.answered.size > 200 ? true : undefined));
  options.limitMemory(residentBytes(first.pid) + 4 * 1024 * 1024);
  load.padding = largeBytes;
  await until('the end for want of memory', async () =>
    options.process().restarts > first.restarts ? true : undefined,
  );
  load.padding = 1000;
  const answeredBefore = load.answered.size;
  await until('answers of the one that came back', async () =>
    load.answered.size > answeredBefore + 200 ? true : undefined,
  );
  load.isOver = true;
  await Promise.all(clients);
  const killed = killedByKernel() - killedBefore;
  report(
    `the kernel ended the gateway for want of memory (${killed}), and it came back`,
    killed > 0 ? [] : ['the kernel counts no such end'],
  );

  const day = new Date().toISOString().slice(0, 10);
  const range = `time_of_generation_min=${day}T00:00:00Z&time_of_generation_max=${day}T23:59:59Z`;
  let recorded = new Map<string, number>();
  await until('the ledger', async () => {
    recorded = await recordedAttempts(options, range);
    return [...witness.asked].every((name) => recorded.has(name)) ? true : undefined;
  }).catch(() => undefined);
  const doubled = [...witness.asked].filter((name) => recorded.get(name) !== 1);
  const unasked = [...load.answered].filter((name) => !witness.asked.has(name));
  report(
    `${witness.asked.size} requests reached the provider, ${load.answered.size} of ${load.sent} were answered: each in the ledger once`,
    [
      ...doubled.slice(0, 20).map((name) => `${name}: ${recorded.get(name) ?? 0} records`),
      ...(doubled.length > 20 ? [`and ${doubled.length - 20} more`] : []),
      ...unasked.map((name) => `${name}: answered by nobody`),
    ],
  );
  // Longer than GAP_GRACE.
  await delay(4000);
  const gaps = (await (await call(options.adminKey, '/v1/ledger/gaps')).json()) as {
    data: object[];
  };
  report(
    'the ledger names no gap',
    gaps.data.map((gap) => JSON.stringify(gap)),
  );
  await witness.close();
}

async function keepAsking(
  { gateway, workspaceKey }: OutOfMemoryOptions,
  load: { padding: number; answered: Set<string>; isOver: boolean; sent: number },
): Promise<void> {
  while (!load.isOver) {
    load.sent += 1;
    const name = `oom-${load.sent}`;
    try {
      const response = await fetch(`${gateway}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-service-api-key': workspaceKey,
          'x-service-trace-id': name,
        },
        body: JSON.stringify({
          model: '@witness/gpt-4o-mini',
          user: name,
          messages: [{ role: 'user', content: 'x'.repeat(load.padding) }],
        }),
        signal: AbortSignal.timeout(20_000),
      });
      await response.text();
      if (response.ok) load.answered.add(name);
      else await delay(100);
    } catch {
      await delay(100);
    }
  }
}

/** A provider that knows who asked it. */
async function startWitness() {
  const asked = new Set<string>();
  const server = createServer(async (request, response) => {
    try {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      asked.add((JSON.parse(Buffer.concat(pieces).toString('utf8')) as { user: string }).user);
    } catch {
      // A request that broke off is one that it was not asked.
      return response.destroy();
    }
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model: 'gpt-4o-mini',
        choices: [
          { index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' },
        ],
        usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    asked,
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Records of each trace. */
async function recordedAttempts(
  { call, workspaceKey }: OutOfMemoryOptions,
  range: string,
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const page = (await (
      await call(
        workspaceKey,
        `/v1/logs?${range}&page_size=1000${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      )
    ).json()) as { data: { metrics: { trace_id: string } }[]; next_cursor?: string | null };
    for (const { metrics } of page.data)
      found.set(metrics.trace_id, (found.get(metrics.trace_id) ?? 0) + 1);
    cursor = page.next_cursor ?? undefined;
  }
  return found;
}

/** By the kernel, since the machine began, whoever it was. */
function killedByKernel(): number {
  return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0);
}

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}
