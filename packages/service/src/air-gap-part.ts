import type { Logger } from '@sluice/telemetry';
import type { Part } from './part.ts';

export interface AirGapOptions {
  /** `AIRGAP`. */
  isOn: boolean;
  /** What this service's settings lead to: URLs, `host:port`, several with commas; undefined = not set. */
  addresses: readonly (string | undefined)[];
  logger: Logger;
}

/** Says at start, where there is an air gap, which hosts the settings lead to: what a firewall has to let pass. */
export function airGapPart({ isOn, addresses, logger }: AirGapOptions): Part {
  return {
    name: 'air-gap',
    start() {
      if (isOn) logger.info({ hosts: hostsOf(addresses) }, 'air gap: settings name these hosts');
    },
  };
}

/** `host:port` of each address, once, without what may be a credential. */
export function hostsOf(addresses: readonly (string | undefined)[]): string[] {
  const hosts = addresses
    .flatMap((address) => address?.split(',') ?? [])
    .map((address) => {
      const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(address.trim())?.[1];
      return (authority ?? address.trim()).replace(/^.*@/, '');
    });
  return [...new Set(hosts)].filter((host) => host !== '').sort();
}
