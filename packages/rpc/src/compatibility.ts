import manifest from '../package.json' with { type: 'json' };

/**
 * The one home of what releases work with each other (docs/deploy/upgrade.md). The protocol counts releases that changed what
 * services say to each other or keep in their stores. Those of before the handshake (up to b41b1b83) send none, and speak 1.
 */
export const release: string = manifest.version;
export const protocol = 2;

export type ServiceRole = 'gateway' | 'control-plane' | 'data-service';

/** Who it is and what it speaks, as a call or a store says it. */
export interface Peer {
  readonly role: ServiceRole;
  readonly release: string;
  readonly protocol: number;
}

/** Stores are migrated first; of the services each is upgraded before the next, and rolled back after it. */
export const upgradeOrder: readonly ServiceRole[] = ['control-plane', 'data-service', 'gateway'];

/**
 * How much older or newer than the one that answers the one that asks may be, in protocols. One release apart they work with each
 * other, but for one thing: what a gateway writes into the ledger (entries of new kinds, such as `late_hooks` were) an older data service
 * would keep among its rejects. So data services go first, and a gateway that did not wait for that keeps its records.
 */
const apart: Readonly<Record<string, { readonly older: number; readonly newer: number }>> = {
  'gateway asks control-plane': { older: 1, newer: 1 },
  'gateway asks data-service': { older: 1, newer: 0 },
  'control-plane asks data-service': { older: 1, newer: 1 },
  'data-service asks control-plane': { older: 1, newer: 1 },
};
const neverMet = { older: 0, newer: 0 };

/** Why the two do not work together, for whoever has to upgrade one of them; undefined where they do. */
export function mismatch(asks: Peer, answers: Peer): string | undefined {
  const allowed = apart[`${asks.role} asks ${answers.role}`] ?? neverMet;
  const ahead = asks.protocol - answers.protocol;
  if (ahead <= allowed.newer && -ahead <= allowed.older) return undefined;
  const [behind, before] = ahead > 0 ? [answers, asks] : [asks, answers];
  return `${nameOf(behind)} is too old for ${nameOf(before)}: upgrade ${titles[behind.role]} first. ${orderText}`;
}

const titles: Readonly<Record<ServiceRole, string>> = {
  gateway: 'the gateway',
  'control-plane': 'the control plane',
  'data-service': 'the data service',
};

const nameOf = ({ role, release, protocol }: Peer) =>
  `${titles[role]} (${release === '' ? 'a release of before the handshake' : `release ${release}`}, protocol ${protocol})`;

/** As messages tell it. */
export const orderText = `The order of an upgrade is: npm run migrate, ${upgradeOrder
  .map((role) => titles[role].replace('the ', ''))
  .join(', ')}; a roll-back goes the other way round and leaves the stores as they are.`;

/** What a store was brought to, and by which release. */
export interface StoreVersion {
  readonly release: string;
  readonly protocol: number;
}

/** Migrations only add, so that a release works with a store of the next one; of what comes after that it knows nothing. */
export function storeMismatch(store: string, of: StoreVersion): string | undefined {
  if (of.protocol <= protocol + 1) return undefined;
  return `${store} was brought to release ${of.release} (protocol ${of.protocol}); this is release ${release} (protocol ${protocol}), which works with stores of protocol ${protocol + 1} at most: deploy release ${of.release}, or restore the backup of before.`;
}
