import { type BarePath, barePath, type Endpoint } from '@sluice/contracts';
import { pathOf } from '../address.ts';
import type { CallFacts } from '../call-facts.ts';
import type { EndpointEntry, ProviderEntry } from '../contract.ts';
import { isChoice } from './find-translation.ts';

/** Where an entry of an endpoint is reached: a path as the gateway itself asks for it, as far as it does not depend on the call. */
export interface Place {
  readonly endpoint: Endpoint;
  readonly entry: EndpointEntry;
  readonly version: string | undefined;
  readonly segments: readonly Segment[];
}

/** Lower case. `varies`: between the two stands a name; `takesMore`: which may have slashes. */
interface Segment {
  readonly before: string;
  readonly after: string;
  readonly varies: boolean;
  readonly takesMore: boolean;
}

/** Those that stand still, and those that depend on model, settings or body. */
export interface Places {
  readonly fixed: readonly Place[];
  readonly varying: readonly Place[];
}

const places = new WeakMap<ProviderEntry, Places>();

/** Of all endpoints, in their order. */
export function placesOf(provider: ProviderEntry): Places {
  let found = places.get(provider);
  if (found === undefined) {
    const all = entriesOf(provider);
    found = {
      fixed: all.flatMap((each) => (isFixed(each.entry) ? placesAt(each) : [])),
      varying: all.flatMap((each) => (isFixed(each.entry) ? [] : placesAt(each))),
    };
    places.set(provider, found);
  }
  return found;
}

/** Whether a path is this place, though the version, or more, may be in the provider's address or here. */
export function isAt({ version, segments }: Place, asked: BarePath): boolean {
  if (version !== undefined && (asked.version ?? version) !== version) return false;
  const own = asked.segments;
  const last = segments.at(-1);
  if (last?.takesMore === true ? own.length < segments.length : own.length !== segments.length)
    return false;
  return segments.every(({ before, after, varies }, index) => {
    const text = (own[index] as string).toLowerCase();
    if (!varies) return text === before;
    return (
      text.length > before.length + after.length && text.startsWith(before) && text.endsWith(after)
    );
  });
}

type EntryAt = Pick<Place, 'endpoint' | 'entry'>;

function entriesOf({ endpoints }: ProviderEntry): EntryAt[] {
  return Object.entries(endpoints).flatMap(([endpoint, offered]) => {
    if (offered === undefined || endpoint === 'proxy') return [];
    const entries = isChoice(offered) ? offered.all : [offered];
    return entries.map((entry) => ({ endpoint: endpoint as Endpoint, entry }));
  });
}

function isFixed({ path }: EndpointEntry): boolean {
  return typeof path === 'string' && !path.includes('{');
}

/** Stands for every name in a path: nothing that an address refuses, and nothing that a vendor would call something. */
const anyName = 'sluice0any0name00000';
const named: Omit<CallFacts, 'stream'> = {
  model: `${anyName}/${anyName}`,
  setting: () => anyName,
  request: { voice: anyName },
};
const probes: readonly CallFacts[] = [false, true].flatMap((stream) => [
  { ...named, stream, setting: () => undefined },
  { ...named, stream },
]);

function placesAt(at: EntryAt): Place[] {
  const found = new Map<string, Place>();
  for (const facts of probes) {
    const path = pathFor(at.entry, facts);
    const bare = path === undefined ? undefined : barePath(path);
    if (path === undefined || bare === undefined) continue;
    const segments = segmentsOf(bare);
    // A path of names alone is that of everything.
    if (segments.some(({ varies, before, after }) => !varies || before + after !== ''))
      found.set(bare.segments.join('\n'), { ...at, version: bare.version, segments });
  }
  return [...found.values()];
}

/** Undefined = it cannot be told without the call. */
function pathFor(entry: EndpointEntry, facts: CallFacts): string | undefined {
  try {
    return pathOf(entry, facts).split('?', 1)[0];
  } catch {
    return undefined;
  }
}

function segmentsOf({ segments }: BarePath): Segment[] {
  const read: Segment[] = [];
  for (const segment of segments) {
    const [before = '', ...rest] = segment.toLowerCase().split(anyName);
    const varies = rest.length > 0;
    const after = rest.at(-1) ?? '';
    const last = read.at(-1);
    const goesOn = varies && before + after === '' && last?.varies === true;
    if (goesOn && last.before + last.after === '') {
      read[read.length - 1] = { ...last, takesMore: true };
      continue;
    }
    read.push({ before, after, varies, takesMore: false });
  }
  return read;
}
