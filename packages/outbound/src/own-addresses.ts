import type { ResolveName } from './address.ts';
import { classifyAddress } from './address-ranges.ts';
import type { OwnServices } from './own-services.ts';

/** How long an answer is taken for good; our parts seldom move. */
const knownForMs = 10_000;
const owner = 'this installation';
const none: ReadonlySet<string> = new Set();

interface Known {
  addresses: ReadonlySet<string>;
  untilMs: number;
  renewal: Promise<void> | undefined;
}

/**
 * The private addresses at which our own parts are reached under their names,
 * for connections to a port that one of them has. While a name cannot be resolved,
 * what it came to last counts: nobody can be led to where we cannot go.
 */
export function createOwnAddresses(
  own: OwnServices,
  resolve: ResolveName,
): (port: number) => ReadonlySet<string> | Promise<ReadonlySet<string>> {
  const byName = new Map<string, Known>();

  function renew(name: string): Known {
    const known = byName.get(name) ?? { addresses: none, untilMs: 0, renewal: undefined };
    byName.set(name, known);
    known.renewal ??= resolve(name, owner)
      .then(
        (addresses) => {
          // A public address may be a stranger's as well, behind the same front.
          const privates = addresses.filter(
            ({ address }) => classifyAddress(address) === 'private',
          );
          known.addresses = new Set(privates.map(({ address }) => address));
        },
        () => undefined,
      )
      .finally(() => {
        known.untilMs = performance.now() + knownForMs;
        known.renewal = undefined;
      });
    return known;
  }

  async function all(names: readonly string[]): Promise<ReadonlySet<string>> {
    const addresses = new Set<string>();
    for (const name of names) {
      let known = byName.get(name);
      if (known === undefined || known.untilMs <= performance.now()) known = renew(name);
      // Only the first answer is waited for; a later one comes in time for the next connection.
      if (known.addresses === none) await known.renewal;
      for (const address of known.addresses) addresses.add(address);
    }
    return addresses;
  }

  return (port) => {
    const names = own.namesAt(port);
    return names.length === 0 ? none : all(names);
  };
}
