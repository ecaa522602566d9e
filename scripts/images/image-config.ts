import { quietFlags, serviceProcesses } from '@sluice/stack';
import type { Buildable } from '../build.ts';
import { serviceUser } from './base-files.ts';

/** What an image is, beside its files: its name for people, and how it starts. */
export interface ImageKind {
  readonly title: string;
  readonly description: string;
  readonly env: Readonly<Record<string, string>>;
  readonly nodeFlags: readonly string[];
  /** Where data may be written and is kept, when it has any. */
  readonly volume?: string;
}

/** Ports are settings, so an image names none. */
const served = { HOST: '0.0.0.0' };

export const imageKinds: Readonly<Record<Buildable, ImageKind>> = {
  gateway: {
    title: 'Sluice gateway',
    description:
      'The data plane: authenticates, limits, routes, streams and records requests to models.',
    env: { ...served, ...serviceProcesses.gateway.env, DATA_DIR: '/data' },
    nodeFlags: serviceProcesses.gateway.nodeFlags,
    volume: '/data',
  },
  'control-plane': {
    title: 'Sluice control plane',
    description: 'The admin API and its Postgres; hands what gateways need to them.',
    env: { ...served, ...serviceProcesses['control-plane'].env },
    nodeFlags: serviceProcesses['control-plane'].nodeFlags,
  },
  'data-service': {
    title: 'Sluice data service',
    description: 'Takes usage records into ClickHouse and answers analytics.',
    env: { ...served, ...serviceProcesses['data-service'].env },
    nodeFlags: serviceProcesses['data-service'].nodeFlags,
  },
  migrations: {
    title: 'Sluice migrations',
    description: 'Brings Postgres, ClickHouse and NATS to this release, before its services start.',
    env: {},
    nodeFlags: [],
  },
};

export const appFolder = '/app';
export const nodePath = '/usr/local/bin/node';

/** The part of an image's configuration that a container runtime runs it by. */
export function runConfig(kind: ImageKind) {
  return {
    User: `${serviceUser.uid}:${serviceUser.gid}`,
    // Nothing of the service is at home anywhere; a user that passwd does not know has one so.
    Env: Object.entries({
      PATH: '/usr/local/bin',
      HOME: '/tmp',
      NODE_ENV: 'production',
      SSL_CERT_FILE: '/etc/ssl/certs/ca-certificates.crt',
      ...kind.env,
    }).map(([name, value]) => `${name}=${value}`),
    Entrypoint: [nodePath, ...quietFlags, ...kind.nodeFlags, `${appFolder}/main.mjs`],
    WorkingDir: appFolder,
    ...(kind.volume === undefined ? {} : { Volumes: { [kind.volume]: {} } }),
  };
}
