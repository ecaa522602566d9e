import { setTimeout as delay } from 'node:timers/promises';
import type { PartName } from '@sluice/stack';
import { compareWithLedger, type LedgerPlace, Traffic } from './traffic.ts';

export type Generation = 'before' | 'after';

/** An installation of the earlier commit, whose services can be replaced one by one. */
export interface Installation {
  readonly keys: readonly string[];
  readonly provider: string;
  /** Of `gateway` and `gateway-2`. */
  readonly gatewayPorts: readonly [number, number];
  /** Of `gateway-2`. */
  readonly metricsPort: number;
  readonly ledger: Omit<LedgerPlace, 'fromMs'>;
  /** Whether gateways greet the data service: through NATS they do not. */
  readonly isGreeted: boolean;
  /** Stops it, and starts it as that generation has it; resolves when it is ready. */
  replace(name: PartName, generation: Generation): Promise<void>;
  /** Brings the stores to this checkout's state. */
  migrate(): Promise<void>;
  /** Tries what has to wait for the migrations; returns what it did not refuse as it should. */
  tryTooEarly?(): Promise<readonly string[]>;
}

/**
 * Goes through docs/deploy/upgrade.md and back under 100 requests a second of which a fifth are streams, with the wrong order
 * on the way; compares the ledger with what was sent. Returns what was wrong.
 */
export async function rehearse(
  on: Installation,
  stageMs: number,
  say: (line: string) => void,
): Promise<string[]> {
  const faults: string[] = [];
  const traffic = new Traffic({ ...on, everyMs: 10 });
  const startedAtMs = Date.now() - 1000;
  const gateways = ['gateway', 'gateway-2'] as const;
  const roll = async (name: PartName, generation: Generation) => {
    const gateway = gateways.indexOf(name as never);
    if (gateway >= 0) {
      traffic.up.delete(gateway);
      await delay(200);
    }
    await on.replace(name, generation);
    if (gateway >= 0) traffic.up.add(gateway);
    say(`  ${name} is replaced; ${traffic.counts()}`);
    await delay(stageMs / 4);
  };
  const expectRefused = async (value: number) => {
    if (!on.isGreeted) return;
    const found = await metric(on.metricsPort, 'sluice_outbox_refused', value);
    if (found === value) say(`  sluice_outbox_refused is ${value}`);
    else faults.push(`sluice_outbox_refused is ${found} instead of ${value}`);
  };
  const running = traffic.run();
  await delay(stageMs);

  if (on.tryTooEarly !== undefined) {
    say('the wrong order: services before the migrations');
    faults.push(...(await on.tryTooEarly()));
  }
  say('migrations first; what runs goes on');
  await on.migrate();
  await delay(stageMs / 2);

  say('the wrong order: a gateway before its data service');
  await roll('gateway-2', 'after');
  await expectRefused(1);
  await delay(stageMs / 2);
  await roll('gateway-2', 'before');

  say('upgrade');
  await roll('control-plane', 'after');
  await roll('data-service', 'after');
  for (const name of gateways) await roll(name, 'after');
  await expectRefused(0);
  await delay(stageMs);

  say('roll-back');
  for (const name of gateways.toReversed()) await roll(name, 'before');
  await roll('data-service', 'before');
  await roll('control-plane', 'before');
  await delay(stageMs);
  traffic.stop();
  await running;
  say(`traffic: ${traffic.counts()}`);
  faults.push(...traffic.faults);

  const { names } = traffic;
  const asked = { ...on.ledger, fromMs: startedAtMs, tries: 60 };
  const { missing, doubled } = await compareWithLedger(names, asked);
  say(`ledger: ${names.size - missing} of ${names.size}, missing ${missing}, twice ${doubled}`);
  if (missing > 0) faults.push(`${missing} requests are not in the ledger`);
  if (doubled > 0) faults.push(`${doubled} requests are in the ledger twice`);
  return faults;
}

/** The gauge's value as soon as it is the one that is wanted; else what it was after ten seconds. */
async function metric(port: number, name: string, wanted: number): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const found = Number(new RegExp(`^${name}\\{.*\\} (.+)$`, 'm').exec(text)?.[1]);
    if (found === wanted || tries === 40) return found;
    await delay(250);
  }
}
