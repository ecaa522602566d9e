import { freePort, portsOfProcess } from '@sluice/testkit';
import { expect, it } from 'vitest';
import { blockedPorts } from './blocked-hosts.ts';

it('no test is told a port at which no host is called, nor one where another process looks', async () => {
  const all = Array.from({ length: 64 }, (_, pid) => portsOfProcess(pid)).flat();
  expect(new Set(all).size).toBe(all.length);
  expect(all.filter((port) => blockedPorts.has(port))).toEqual([]);
  expect(portsOfProcess(process.pid)).toContain(await freePort());
});
