import { createServer } from 'node:net';
import { freePorts } from '@sluice/stack';
import { expect, it } from 'vitest';
import { takenPortsMessage } from './check-ports.ts';

it('names the taken port, whose it was to be, and the flag that helps', async () => {
  const ports = await freePorts();
  expect(await takenPortsMessage(ports)).toBeUndefined();
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(ports.controlPlane, '127.0.0.1', resolve));
  const message = await takenPortsMessage(ports);
  await new Promise((resolve) => other.close(resolve));
  expect(message).toContain(`Port ${ports.controlPlane}, meant for the control plane, is in use`);
  expect(message).toContain(`--port ${ports.gateway + 100}`);
});
