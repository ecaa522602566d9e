import { randomBytes } from 'node:crypto';
import { eventually, isLongForm, testDatabase } from '@sluice/testkit';
import { afterEach, expect, it } from 'vitest';
import { brokenLink } from './support/audit-chain.ts';
import { type Harness, startHarness } from './support/harness.ts';
import { startProcessOf } from './support/own-process.ts';

/** One write of the storm: what it was, and what the caller was told, if anything. */
interface Write {
  name: string;
  answered: boolean;
}

/** More of them in `npm run test:long`. */
const rounds = isLongForm ? 4 : 2;
const writers = 12;

let h: Harness | undefined;
afterEach(() => h?.stop());

it('what was answered is there with its audit entry after a kill -9, what was not is whole or absent', async () => {
  const databaseUrl = await testDatabase();
  // Makes the organisation and its keys; the storm goes to a process of its own beside it.
  h = await startHarness({ databaseUrl });
  const run = h;
  const writes: Write[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const victim = await startProcessOf(run);
    const storm = Array.from({ length: writers }, (_, writer) =>
      write(run, victim.url, writes, `r${round}w${writer}`),
    );
    const before = answered(writes);
    // At an uneven place in the storm, with every writer waiting for something.
    await eventually(() =>
      expect(answered(writes) - before).toBeGreaterThan(17 + (52 / rounds) * round),
    );
    await victim.kill();
    await Promise.all(storm);
  }
  const told = answered(writes);
  expect(told).toBeGreaterThan(50);
  // Each writer was in the middle of something when its process died.
  expect(writes.length - told).toBeGreaterThan(rounds);

  const restarted = await startProcessOf(run);
  const answer = await fetch(`${restarted.url}/v1/configs`, {
    headers: { 'x-service-api-key': run.first.workspace_key },
  });
  expect(answer.status).toBe(200);
  await restarted.kill();

  const found = await foundWrites(run);
  const lost = writes.filter((each) => each.answered && !found.whole.has(each.name));
  expect(lost).toEqual([]);
  expect(found.halves).toEqual([]);
  expect(await brokenLink(run)).toBeUndefined();
});

function answered(writes: readonly Write[]): number {
  return writes.filter((each) => each.answered).length;
}

/** Creates, and changes what it created, until the service is gone. */
async function write(run: Harness, url: string, writes: Write[], prefix: string): Promise<void> {
  for (let index = 0; ; index += 1) {
    const name = `${prefix}-${index}-${randomBytes(3).toString('hex')}`;
    const entry: Write = { name, answered: false };
    writes.push(entry);
    try {
      const response = await fetch(`${url}/v1/configs`, {
        method: 'POST',
        headers: {
          'x-service-api-key': run.first.workspace_key,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ name, config: { provider: '@demo' } }),
      });
      entry.answered = response.status === 200;
      await response.arrayBuffer();
    } catch {
      return;
    }
  }
}

/** Per write: the config, its version and its audit entry. All three are whole, fewer are a half. */
async function foundWrites(run: Harness): Promise<{ whole: Set<string>; halves: string[] }> {
  const parts = new Map<string, number>();
  const count = (name: string) => parts.set(name, (parts.get(name) ?? 0) + 1);
  const where = { workspaceId: run.first.workspace_id, name: { startsWith: 'r' } };
  const configs = await run.db.config.findMany({ where, include: { versions: true } });
  for (const config of configs) {
    count(config.name);
    for (const version of config.versions) count(version.name);
  }
  const entries = await run.db.auditEntry.findMany({
    where: { organisationId: run.first.organisation_id, resourceType: 'configs' },
  });
  for (const entry of entries) {
    expect(entry.responseStatusCode).toBe(200);
    count(JSON.parse(entry.requestBody).name);
  }
  const names = [...parts];
  return {
    whole: new Set(names.filter(([, found]) => found === 3).map(([name]) => name)),
    halves: names.filter(([, found]) => found !== 3).map(([name, found]) => `${name}: ${found}`),
  };
}
