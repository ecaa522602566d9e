import { freePort } from './ports.ts';

/** Where each part listens, all on the loopback interface. */
export interface SluicePorts {
  gateway: number;
  /** Where GRPC_ENABLED is set. */
  gatewayGrpc: number;
  controlPlane: number;
  controlPlaneGrpc: number;
  dataServiceGrpc: number;
  dataService: number;
  gatewayMetrics: number;
  controlPlaneMetrics: number;
  demoUpstream: number;
  postgres: number;
}

const offsets: SluicePorts = {
  gateway: 0,
  controlPlane: 1,
  gatewayGrpc: 2,
  controlPlaneGrpc: 3,
  dataServiceGrpc: 4,
  dataService: 5,
  gatewayMetrics: 6,
  controlPlaneMetrics: 7,
  demoUpstream: 12,
  postgres: 13,
};

/** The gateway's port decides all others. */
export const gatewayPortDefault = 8787;
export const gatewayPortMax = 65_535 - Math.max(...Object.values(offsets));

export function portsFrom(gateway: number): SluicePorts {
  return mapPorts((offset) => gateway + offset);
}

/** Ports that were free a moment ago, for tests. */
export async function freePorts(): Promise<SluicePorts> {
  const taken = new Set<number>();
  // One after the other: the kernel may hand the same port out twice when asked at once.
  while (taken.size < Object.keys(offsets).length) taken.add(await freePort());
  const ports = [...taken];
  return mapPorts((_offset, index) => ports[index] as number);
}

function mapPorts(port: (offset: number, index: number) => number): SluicePorts {
  const entries = Object.entries(offsets).map(([name, offset], index) => [
    name,
    port(offset, index),
  ]);
  return Object.fromEntries(entries) as SluicePorts;
}
