import { setTimeout as delay } from 'node:timers/promises';
import { eventually, isLongForm } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Scenario, startScenario } from './scenario.ts';

/**
 * What the services log while something is away: that it is, once, with the reason, and once that it is back and after how long,
 * whoever asks meanwhile and however often. What is away has no stack.
 */

/**
 * At least; `npm run chaos` takes them away for longer than anything that is tried again waits in between, and each
 * alone. In the suite stores are away together, since nobody takes them for one another, and until what must be said
 * is; services die there, and do not hang.
 */
const awayMsMin = isLongForm ? 20_000 : 4_000;
/** Between two questions of one kind. */
const restMs = isLongForm ? 200 : 400;
/** Until all is said that must be. */
const saidMsMax = 45_000;

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario({
    promptLedger: true,
    processes: true,
    nats: true,
    redis: true,
    logStore: true,
    relaysPostgres: true,
  });
});
afterAll(() => scenario.stop());

const services = ['gateway', 'control-plane', 'data-service'] as const;
type Service = (typeof services)[number];

interface Line {
  readonly time: string;
  readonly msg: string;
  readonly kind?: string;
  readonly reason?: string;
  readonly parts?: readonly string[];
  readonly away_ms?: number;
}

/** What a service wrote since then, but its line for each request. */
function saidSince(service: Service, fromMs: number): Line[] {
  return scenario.stack
    .part(service)
    .stderr()
    .split('\n')
    .filter((text) => text.startsWith('{'))
    .map((text) => JSON.parse(text) as Line)
    .filter(({ time, msg }) => Date.parse(time) >= fromMs && msg !== 'request');
}

/** What a service has said to be away, and not yet to be back. */
function stillAway(service: Service, { says }: Outage): string[] {
  const said = saidSince(service, 0).map(({ msg }) => msg);
  return (says[service] ?? []).flatMap(([away, back]) =>
    said.lastIndexOf(away) > said.lastIndexOf(back) ? [away] : [],
  );
}

/** What callers, admins and pages ask all the time, whatever comes of it; none waits for the answer of another. */
async function askAll(untilMs: number): Promise<void> {
  const span = new URLSearchParams({
    time_of_generation_min: new Date(Date.now() - 3_600_000).toISOString(),
    time_of_generation_max: new Date(Date.now() + 3_600_000).toISOString(),
  });
  const look = (path: string) => scenario.call(`/v1${path}`, { method: 'GET', host: null });
  const questions: readonly ((turn: number) => Promise<Response>)[] = [
    () => scenario.chat(),
    (turn) => scenario.chat({ key: `sk-nobody-${untilMs}-${turn}` }),
    () => look('/files'),
    () => look('/batches'),
    () => look('/configs'),
    () => look(`/analytics/graphs/requests?${span}`),
    () => look('/requests/01890000-0000-7000-8000-000000000000'),
    (turn) => {
      const config = { name: `At ${untilMs}, ${turn}`, config: { provider: '@demo' } };
      return scenario.call('/v1/configs', { host: null, body: config });
    },
  ];
  await Promise.all(
    questions.map(async (ask) => {
      for (let turn = 0; Date.now() < untilMs; turn++) {
        await ask(turn).then(
          (answer) => answer.arrayBuffer(),
          () => {},
        );
        await delay(restMs);
      }
    }),
  );
}

interface Outage {
  readonly name: string;
  down(): Promise<unknown> | undefined;
  up(): Promise<unknown> | undefined;
  /** How long at least in the long form, where that is longer than of others. */
  readonly awayMsMin?: number;
  /** What must be said, by service: its last has how long it was. */
  readonly says: Partial<Record<Service, readonly (readonly [away: string, back: string])[]>>;
}

const part = (name: Service) => ({
  down: () => scenario.stack.part(name).kill(),
  up: () => scenario.stack.part(name).start(),
});

const work = [
  ['batches cannot be looked for at the moment', 'batches are looked for again'],
  ['work at providers cannot be followed at the moment', 'work at providers is followed again'],
] as const;

const redisItself = ['redis cannot be used at the moment', 'redis can be used again'] as const;

const outages: readonly Outage[] = [
  {
    name: 'Postgres is away',
    down: () => scenario.stack.postgresRelay?.down(),
    up: () => scenario.stack.postgresRelay?.up(),
    says: {
      gateway: [['what is kept cannot be reached', 'what is kept is reached again']],
      'control-plane': [
        ['the database is away', 'the database is back'],
        ['the connection that hears of changes was lost', 'changes are heard again'],
      ],
      'data-service': work,
    },
  },
  {
    name: 'NATS is away',
    down: () => scenario.stack.nats?.kill(),
    up: () => scenario.stack.nats?.restart(),
    says: {
      gateway: [['usage records wait in the outbox', 'usage records flow again']],
      'data-service': [['disconnected from NATS', 'reconnected to NATS']],
    },
  },
  {
    name: 'Redis is away',
    down: () => scenario.stack.redis?.kill(),
    up: () => scenario.stack.redis?.restart(),
    says: {
      gateway: [
        redisItself,
        [
          'redis does not answer, and parts of this gateway go on alone',
          'parts of this gateway share through redis again',
        ],
      ],
    },
  },
  {
    name: 'the control plane is away',
    ...part('control-plane'),
    says: {
      gateway: [
        ['the control plane is away; the last state stays in force', 'watching the control plane'],
        ['what is kept cannot be reached', 'what is kept is reached again'],
      ],
      'data-service': work,
    },
  },
  {
    name: 'the data service is away',
    ...part('data-service'),
    says: { 'control-plane': [['the data service is away', 'the data service is back']] },
  },
];

/** Of a process that is stopped: connections to it are accepted, and nothing is answered. */
const silent = (pid: () => number | undefined) => {
  const signal = (name: NodeJS.Signals) => async () => process.kill(pid() ?? Number.NaN, name);
  return { down: signal('SIGSTOP'), up: signal('SIGCONT') };
};

/** Who accepts connections and stays silent, for longer than its callers wait. */
const hanging: readonly Outage[] = [
  {
    name: 'Postgres hangs',
    down: async () => scenario.stack.postgresRelay?.hang(),
    up: () => scenario.stack.postgresRelay?.up(),
    // Statements may take that long.
    awayMsMin: 21_000,
    says: outages[0]?.says ?? {},
  },
  {
    name: 'NATS hangs',
    ...silent(() => scenario.stack.nats?.pid),
    // A second question is late, too.
    awayMsMin: 15_000,
    says: {
      gateway: [['usage records wait in the outbox', 'usage records flow again']],
      'data-service': [
        ['consuming from NATS was interrupted', 'usage records are consumed from NATS again'],
      ],
    },
  },
  {
    name: 'Redis hangs',
    ...silent(() => scenario.stack.redis?.pid),
    awayMsMin: 12_000,
    // Each part finds out when it is used.
    says: { gateway: [redisItself] },
  },
  {
    name: 'the data service hangs',
    ...silent(() => scenario.stack.part('data-service').pid),
    awayMsMin: 21_000,
    says: {
      'control-plane': [
        ['the data service does not answer in time', 'the data service answers in time again'],
      ],
    },
  },
];

/** These have always been quiet; `npm run chaos` shows that they are. */
const hangingQuietly: readonly Outage[] = [
  {
    name: 'the control plane hangs',
    ...silent(() => scenario.stack.part('control-plane').pid),
    says: outages[3]?.says ?? {},
  },
];

/** At the same time: each says what is its own. */
function together(name: string, each: readonly Outage[]): Outage {
  return {
    name,
    down: () => Promise.all(each.map((outage) => outage.down())),
    up: () => Promise.all(each.map((outage) => outage.up())),
    says: Object.fromEntries(
      services.map((service) => [service, each.flatMap(({ says }) => says[service] ?? [])]),
    ),
  };
}

const [storesAway, servicesAway] = [outages.slice(0, 3), outages.slice(3)];
const storesHang = hanging.slice(0, 3);

const asked: readonly Outage[] = isLongForm
  ? [...outages, ...hanging, ...hangingQuietly]
  : [
      together('each store is away', storesAway),
      ...servicesAway,
      together('each store hangs', storesHang),
    ];

it.each(asked)(
  'says once that $name, and once that it is over',
  async (outage) => {
    await eventually(async () => {
      await askAll(Date.now() + 1000);
      // What went away in a go that failed is back, and that has been said.
      expect(services.flatMap((service) => stillAway(service, outage))).toEqual([]);
    });
    const fromMs = Date.now();
    const missing = (which: 0 | 1) =>
      services.flatMap((service) => {
        const said = new Set(saidSince(service, fromMs).map(({ msg }) => msg));
        return (outage.says[service] ?? []).flatMap((pair) =>
          said.has(pair[which]) ? [] : pair[which],
        );
      });
    const askUntilSaid = async (which: 0 | 1, ms: number) => {
      const lastMs = Date.now() + saidMsMax;
      await askAll(Date.now() + ms);
      while (missing(which).length > 0 && Date.now() < lastMs) await askAll(Date.now() + 500);
      expect(missing(which)).toEqual([]);
    };
    await outage.down();
    await askUntilSaid(0, isLongForm ? Math.max(awayMsMin, outage.awayMsMin ?? 0) : awayMsMin);
    await outage.up();
    await askUntilSaid(1, 1000);
    // Whoever says it twice does so now.
    await askAll(Date.now() + 1000);
    for (const service of services) {
      const lines = saidSince(service, fromMs);
      expect(lines.filter((line) => JSON.stringify(line).includes('"stack"'))).toEqual([]);
      // The same thing for another reason is news.
      const names = lines.map(({ msg, kind, reason, parts }) =>
        JSON.stringify([msg, kind, reason, parts]),
      );
      expect(names).toEqual([...new Set(names)]);
      const returns = (outage.says[service] ?? []).map(([, back]) => back);
      for (const { msg, away_ms = 0 } of lines)
        if (returns.includes(msg)) expect(away_ms, msg).toBeGreaterThan(awayMsMin / 8);
    }
  },
  150_000,
);
