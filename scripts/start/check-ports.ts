import { isPortFree, type SluicePorts } from '@sluice/stack';

const owners: Record<keyof SluicePorts, string> = {
  gateway: 'the gateway',
  gatewayGrpc: 'the gateway (gRPC)',
  controlPlane: 'the control plane',
  controlPlaneGrpc: 'the control plane (gRPC)',
  dataServiceGrpc: 'the data service (gRPC)',
  dataService: 'the data service',
  gatewayMetrics: 'the gateway (metrics)',
  controlPlaneMetrics: 'the control plane (metrics)',
  demoUpstream: 'the demo upstream',
  postgres: 'Postgres',
};

/**
 * What to tell a person about ports that others hold, or `undefined` when all are free. `own` are held by what an
 * earlier run left, which the new one ends.
 */
export async function takenPortsMessage(
  ports: SluicePorts,
  own: readonly (keyof SluicePorts)[] = [],
): Promise<string | undefined> {
  const names = (Object.keys(owners) as (keyof SluicePorts)[]).filter(
    (name) => !own.includes(name),
  );
  const free = await Promise.all(names.map((name) => isPortFree(ports[name])));
  const taken = names.filter((_name, index) => !free[index]);
  if (taken.length === 0) return undefined;
  const lines = taken.map(
    (name) => `Port ${ports[name]}, meant for ${owners[name]}, is in use by another program.`,
  );
  return `${lines.join('\n')}\nStop that program, or choose other ports: npm start -- --port ${ports.gateway + 100}`;
}
