import { createHash } from 'node:crypto';
import { bearsAddress } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import { isHeaderMap } from './header-maps.ts';
import type { Path } from './secret-fields.ts';

/** Whether a value says where something is. @param names the names on the way to it, without places in lists */
export type AddressRule = (names: readonly string[], value: Scalar, isSecret: boolean) => boolean;

type Scalar = string | number | boolean;

/** Something that holds secrets beside the addresses they are for. */
export interface SecretHolder {
  /** With its secrets in clear. */
  readonly document: unknown;
  /** As it may be shown. What is not shown as it is, is secret. */
  readonly shown: unknown;
  /** Where its values stand in the request, for messages. */
  readonly fieldOf: (path: Path) => string;
}

/** More than this help nobody. */
const faultsMax = 20;

/**
 * Keeps write-only secrets where they were given: a change that leaves a secret
 * as it was must leave each address that it may travel to. Without this whoever
 * may change the address, but not read the secret, reads it at a host of theirs.
 *
 * The addresses of a secret are all in its document, but for those in other
 * elements of the lists it stands in: a target's key has nothing to do with the
 * target beside it. So targets may be moved, and secrets that are sent in clear
 * may go anywhere: whoever sends them knows them.
 *
 * @param before all that holds these secrets now
 * @param after  what would hold them
 * @param sent   what the request carries
 * @throws 400 `admin.secret_required` naming each secret that must be sent again, and the address that changes
 */
export function guardKeptSecrets(
  before: readonly SecretHolder[],
  after: readonly SecretHolder[],
  sent: unknown,
  isAddress: AddressRule = soundsLikeAddress,
): void {
  const known = new Map<string, PlacedSecret[]>();
  for (const holder of before)
    for (const secret of secretsOf(holder, isAddress)) {
      const others = known.get(secret.value);
      if (others === undefined) known.set(secret.value, [secret]);
      else others.push(secret);
    }
  if (known.size === 0) return;
  const carried = textsOf(sent);
  const faults = new Map<string, string>();
  for (const holder of after)
    for (const secret of secretsOf(holder, isAddress)) {
      const places = carried.has(secret.value) ? undefined : known.get(secret.value);
      const [first] = places ?? [];
      if (first === undefined || places?.some(({ address }) => address() === secret.address()))
        continue;
      const field = holder.fieldOf(secret.path);
      const changed = holder.fieldOf(firstDifference(first.addresses(), secret.addresses()));
      faults.set(field, `${field}: must be sent again, because ${changed} changes`);
      if (faults.size === faultsMax) throw refusal(faults);
    }
  if (faults.size > 0) throw refusal(faults);
}

/** Whether two documents lead to the same places. */
export function hasSameAddresses(
  before: unknown,
  after: unknown,
  isAddress: AddressRule = soundsLikeAddress,
): boolean {
  return (
    digest(addressesIn(before, before, isAddress)) === digest(addressesIn(after, after, isAddress))
  );
}

function refusal(faults: ReadonlyMap<string, string>): GatewayError {
  const [[field, message] = ['body', '']] = faults;
  return new GatewayError('admin.secret_required', {
    field,
    message: `${message}: a kept secret stays with the address it was given for.`,
    faults: [...faults.values()],
  });
}

/** By name, by form, and references to what has an address of its own. */
export const soundsLikeAddress: AddressRule = (names, value) => {
  const name = names.at(-1) ?? '';
  // A header chooses a host by these names only; any other may be called `x-tenant-id`.
  if (names.slice(0, -1).some(isHeaderMap)) return hostHeaders.has(name.toLowerCase());
  if (bearsAddress(name)) return true;
  if (typeof value !== 'string') return false;
  return absoluteUrl.test(value) || (name === 'model' && value.startsWith('@'));
};

const absoluteUrl = /^\s*[a-z][a-z0-9+.-]*:\/\//i;
const hostHeaders = new Set([
  'host',
  ':authority',
  'forwarded',
  'x-forwarded-host',
  'x-original-host',
]);

interface Address {
  path: Path;
  /** The names on the way, and what stands there; places in lists do not count. */
  fact: string;
}

interface PlacedSecret {
  value: string;
  path: Path;
  /** A digest of its addresses. */
  address: () => string;
  addresses: () => Address[];
}

/** A part of a document that goes with a secret: all below `root` but for one list, of which only an element counts. */
interface Segment {
  root: unknown;
  shown: unknown;
  path: Path;
  without: unknown;
}

function secretsOf({ document, shown }: SecretHolder, isAddress: AddressRule): PlacedSecret[] {
  const found: PlacedSecret[] = [];
  // Lists of a thousand targets have the same surroundings: they are read once.
  const read = new Map<unknown, Map<unknown, { addresses: Address[]; digest: string }>>();

  function readSegment({ root, shown: shownRoot, path, without }: Segment) {
    const ofRoot = read.get(root) ?? new Map();
    read.set(root, ofRoot);
    const known = ofRoot.get(without);
    if (known !== undefined) return known;
    const addresses = addressesIn(root, shownRoot, isAddress, path, without);
    const made = { addresses, digest: digest(addresses) };
    ofRoot.set(without, made);
    return made;
  }

  function visit(
    value: unknown,
    shownValue: unknown,
    path: Path,
    segments: readonly Segment[],
  ): void {
    if (Array.isArray(value)) {
      const outer = segments.slice(0, -1);
      const last = segments.at(-1) as Segment;
      for (const [index, item] of value.entries()) {
        const at = [...path, index];
        const shownItem = Array.isArray(shownValue) ? shownValue[index] : undefined;
        visit(item, shownItem, at, [
          ...outer,
          { ...last, without: value },
          { root: item, shown: shownItem, path: at, without: undefined },
        ]);
      }
    } else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value))
        visit(inner, memberOf(shownValue, name), [...path, name], segments);
    else if (isText(value) && value !== shownValue)
      found.push({
        value: String(value),
        path,
        address: () => segments.map((segment) => readSegment(segment).digest).join(),
        addresses: () => segments.flatMap((segment) => readSegment(segment).addresses),
      });
  }

  visit(document, shown, [], [{ root: document, shown, path: [], without: undefined }]);
  return found;
}

function addressesIn(
  root: unknown,
  shown: unknown,
  isAddress: AddressRule,
  start: Path = [],
  without?: unknown,
): Address[] {
  const found: Address[] = [];
  function visit(value: unknown, shownValue: unknown, path: Path): void {
    if (Array.isArray(value)) {
      if (value === without) return;
      for (const [index, item] of value.entries())
        visit(item, Array.isArray(shownValue) ? shownValue[index] : undefined, [...path, index]);
    } else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value))
        visit(inner, memberOf(shownValue, name), [...path, name]);
    else if (isText(value)) {
      const names = path.filter((step) => typeof step === 'string');
      if (isAddress(names, value, value !== shownValue))
        found.push({ path, fact: JSON.stringify([...names, normalisedAddress(String(value))]) });
    }
  }
  visit(root, shown, start);
  return found;
}

function digest(addresses: readonly Address[]): string {
  const facts = [...new Set(addresses.map(({ fact }) => fact))].sort();
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64');
}

/** The place of an address that only one of the two has; of a new one rather than of one that is gone. */
function firstDifference(before: readonly Address[], after: readonly Address[]): Path {
  const only = (these: readonly Address[], others: readonly Address[]) => {
    const facts = new Set(others.map(({ fact }) => fact));
    return these.find(({ fact }) => !facts.has(fact));
  };
  return (only(after, before) ?? only(before, after))?.path ?? [];
}

/** The whole address counts, with its path: at many hosts that is where strangers live beside each other. */
export function normalisedAddress(value: string): string {
  const text = value.trim();
  if (!absoluteUrl.test(text) || !URL.canParse(text)) return text;
  return new URL(text).href.replace(/\/+$/, '');
}

function isText(value: unknown): value is Scalar {
  return (
    (typeof value === 'string' && value !== '') ||
    typeof value === 'number' ||
    typeof value === 'boolean'
  );
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function textsOf(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) textsOf(inner, found);
  else if (isText(value)) found.add(String(value));
  return found;
}
