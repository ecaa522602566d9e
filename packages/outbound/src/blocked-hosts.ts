/**
 * Names and ports that no upstream may have. Data only: how names are matched
 * stands in `host-rules.ts`, addresses in `address-ranges.ts`.
 */

/** Never reachable, trusted or not: cloud metadata, service discovery, and names that resolve to whatever they spell. */
export const alwaysBlockedSuffixes: readonly string[] = [
  // Metadata services of the clouds.
  'metadata.google.internal',
  'metadata.gce.internal',
  'metadata.goog',
  'metadata.azure.com',
  'internal.cloudapp.net',
  'metadata.internal',
  'metadata.do.internal',
  'metadata.packet.net',
  'metadata.cloud.ibm.com',
  'instance-data.ec2.internal',
  // Service discovery.
  'consul',
  // Wildcard DNS: the caller chooses the address by the name.
  'nip.io',
  'sslip.io',
  'xip.io',
  'localtest.me',
  'lvh.me',
  'vcap.me',
  'traefik.me',
  'localhost.run',
];

/** Kubernetes’ API server: this name, whatever domain the cluster has, and with anything in front. */
export const clusterControlName = 'kubernetes.default';

/** Single-label names that search domains may complete into one of the above. */
export const alwaysBlockedNames: ReadonlySet<string> = new Set([
  'metadata',
  'instance-data',
  'kubernetes',
]);

/**
 * Names of the machine itself, and of the one around a container: services on
 * them may be ours, under the ports that we know.
 */
export const machineNames: ReadonlySet<string> = new Set([
  'localhost',
  'localhost.localdomain',
  'ip6-localhost',
  'ip6-loopback',
]);
export const containerHostNames: ReadonlySet<string> = new Set([
  'host.docker.internal',
  'gateway.docker.internal',
  'host.containers.internal',
  'host.lima.internal',
]);

/** Top-level labels that are never public; a trusted host may have one. */
export const privateTopLevelLabels: ReadonlySet<string> = new Set([
  'local',
  'localdomain',
  'internal',
  'intranet',
  'lan',
  'home',
  'corp',
  'test',
  'invalid',
  'onion',
  'localhost',
]);

/**
 * Ports of services that an HTTP request could be made to speak to. The first
 * rows are the ports that browsers refuse (https://fetch.spec.whatwg.org/#port-blocking).
 */
export const blockedPorts: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
  // File sharing, remote desktops and shells.
  445, 873, 3389, 5900, 5901, 5985, 5986,
  // Databases, caches and search.
  1433, 1434, 1521, 3306, 5432, 5984, 6379, 6380, 9042, 9200, 9300, 11211, 26379, 27017, 27018,
  27019,
  // Queues and coordination.
  2181, 2379, 2380, 4222, 5672, 9092, 15672,
  // Container and cluster control.
  2375, 2376, 6443, 10250, 10255,
]);
