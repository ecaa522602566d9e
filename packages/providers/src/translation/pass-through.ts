import {
  barePath,
  type Endpoint,
  type JsonObject,
  type JsonValue,
  type ModelOperation,
  operations,
} from '@sluice/contracts';
import type { EndpointEntry, KnownPaths, ProviderEntry, Translation } from '../contract.ts';
import { CodecReader } from './codec-reader.ts';
import { translationOf } from './find-translation.ts';
import { FirstReader } from './first-reader.ts';
import { isReadFormat } from './native-formats.ts';
import { NativeTranslation } from './native-translation.ts';
import { isAt, type Place, placesOf } from './path-places.ts';
import { ToldReader } from './told-reader.ts';

/** What passes through at a path of which the provider's entry knows the replies. */
export interface PassThrough {
  /** Reads the reply on its way; the vendor's bytes are the caller's. */
  readonly translation: Translation;
  /** What it is, though nobody asked for that by name; undefined = the path says no more than the format. */
  readonly endpoint: Endpoint | undefined;
}

/**
 * What a pass-through path comes to, at the endpoints of the provider's entry and its known paths, wherever their version
 * stands; undefined where nothing is known of the path.
 */
export function findPassThrough(provider: ProviderEntry, path: string): PassThrough | undefined {
  const bare = barePath(path);
  if (bare === undefined) return undefined;
  const at = (place: Place) => isAt(place, bare);
  const { fixed, varying } = placesOf(provider);
  for (const place of fixed.filter(at)) {
    const translation = readerOf(place);
    if (translation !== undefined) return { translation, endpoint: place.endpoint };
  }
  const known = provider.knownPaths?.find(
    ({ pattern }) => pattern.test(path) || pattern.test(bare.path),
  );
  if (known !== undefined) return { translation: nativeTranslationOf(known), endpoint: undefined };
  return together(varying.filter((place) => !isList(place) && at(place)));
}

/**
 * What reads a reply at a path of which nothing is known: usage is charged where it is told. Of a request that asks a
 * model or an agent for something, or may as nobody has read it; a look at what was made before tells of usage, too.
 */
export function passesUnknown(
  method: string,
  request: JsonObject | 'unread' | undefined,
): PassThrough | undefined {
  const asks = request === 'unread' || (request !== undefined && asksSomething(request));
  return method === 'POST' && asks ? { translation: toldReader, endpoint: undefined } : undefined;
}

/**
 * It names a model; or it says something to an agent (Google's interactions), or in a conversation that has one (Mistral's
 * `inputs`). What else is said to agents is answered with what their sessions have used so far.
 */
function asksSomething({ model, agent, input, inputs }: JsonObject): boolean {
  if (typeof model === 'string' && model !== '') return true;
  return tells(inputs) || (tells(agent) && tells(input));
}

function tells(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== '';
}

const toldReader = new ToldReader();

/** One path may be that of several endpoints: which it is, the reply says. */
function together(places: readonly Place[]): PassThrough | undefined {
  const readers = [...new Set(places.flatMap((place) => readerOf(place) ?? []))];
  const [first] = readers;
  if (first === undefined) return undefined;
  const translation = readers.length === 1 ? first : new FirstReader(first, readers);
  const most = mostFirst.flatMap((uses) => places.filter((place) => usesAt(place) === uses));
  return { translation, endpoint: most[0]?.endpoint };
}

/** Nothing of it is anybody's bill, and it may be long. */
function isList({ endpoint }: Place): boolean {
  return operations[endpoint].at.startsWith('GET ');
}

/** Of what may be charged where nobody says what it was. */
const mostFirst = ['text', 'input', 'units', 'nothing'] as const satisfies ModelOperation['uses'][];

function usesAt({ endpoint }: Place): ModelOperation['uses'] {
  return operations[endpoint].uses;
}

/** What reads replies of a format, at whichever path. */
export function passThroughTranslation(format: KnownPaths['format']): Translation {
  return new NativeTranslation({ format, path: '' });
}

/** In the vendor's words, whatever callers of the endpoint are answered in. */
function readerOf({ entry, endpoint }: Place): Translation | undefined {
  const translation = translationOf(entry, endpoint);
  if (translation?.mode === 'native' || entry.dialect !== undefined) return translation;
  if (isReadFormat(entry.format)) return nativeTranslationOf(entry);
  return translation && codecReaderOf(translation);
}

const passing = new WeakMap<EndpointEntry | KnownPaths | Translation, Translation>();

function kept(of: EndpointEntry | KnownPaths | Translation, make: () => Translation): Translation {
  const known = passing.get(of);
  if (known !== undefined) return known;
  const made = make();
  passing.set(of, made);
  return made;
}

function nativeTranslationOf(known: EndpointEntry | KnownPaths): Translation {
  return kept(known, () => {
    const { format } = known;
    const openUnframer = 'pattern' in known ? known.openUnframer : known.envelope?.openUnframer;
    const auth = 'pattern' in known ? undefined : known.auth;
    return new NativeTranslation({
      format,
      path: '',
      ...(openUnframer && { envelope: { openUnframer } }),
      ...(auth && { auth }),
    });
  });
}

function codecReaderOf(translation: Translation): Translation {
  return kept(translation, () => new CodecReader(translation));
}
