import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  CallContext,
  JsonObject,
  ProviderEntry,
  ReplyHead,
  StreamReader,
} from '../src/contract.ts';

/** A recorded input and where what we make of it is written down. */
export interface Fixture {
  name: string;
  bytes: Buffer;
  json: () => JsonObject;
  golden: (suffix: string) => string;
}

/** The fixtures of one codec and one kind: `request`, `response`, `stream`, `error`. */
export function fixtures(format: string, kind: string): Fixture[] {
  return fixturesIn(join(import.meta.dirname, '../src/codecs', format, 'fixtures'), kind);
}

/** A few of a format's fixtures, for tests of what another format makes of them. */
export function someFixtures(format: string, kind: string, ...names: string[]): Fixture[] {
  return fixtures(format, kind).filter((fixture) => names.includes(fixture.name));
}

/** The same of any folder, e.g. an adapter's. */
export function fixturesIn(folder: string, kind: string): Fixture[] {
  const ending = new RegExp(`\\.${kind}\\.(json|txt)$`);
  return readdirSync(folder)
    .filter((file) => ending.test(file))
    .sort()
    .map((file) => {
      const bytes = readFileSync(join(folder, file));
      const name = file.replace(ending, '');
      return {
        name,
        bytes,
        json: () => JSON.parse(bytes.toString('utf8')),
        golden: (suffix) => join(folder, 'golden', `${name}.${kind}.${suffix}`),
      };
    });
}

export function contextFor(
  provider: ProviderEntry,
  strict = true,
  more: Partial<CallContext> = {},
): CallContext {
  return {
    provider,
    strictOpenAiCompliance: strict,
    nowMs: 1_763_000_000_000,
    model: '',
    stream: false,
    setting: () => undefined,
    request: {},
    ...more,
  };
}

/** The head of a plain good answer. */
export const okHead: ReplyHead = { status: 200, headers: {} };

export interface Playback {
  bytes: Buffer;
  phases: StreamReader['phase'][];
  facts: StreamReader['facts'];
  said: number | undefined;
  fault: StreamReader['fault'];
}

/** Feeds a stream cut at the given positions; phases are those passed through, without repeats. */
export function play(reader: StreamReader, bytes: Buffer, cuts: readonly number[]): Playback {
  const out: Buffer[] = [];
  const phases: StreamReader['phase'][] = [reader.phase];
  const note = (): void => {
    if (phases.at(-1) !== reader.phase) phases.push(reader.phase);
  };
  const edges = [...new Set([0, ...cuts, bytes.length])].sort((a, b) => a - b);
  for (const [index, start] of edges.entries()) {
    const end = edges[index + 1];
    if (end === undefined) break;
    out.push(reader.push(Buffer.from(bytes.subarray(start, end))));
    note();
  }
  out.push(reader.end());
  note();
  // An estimate, and no part of what a stream tells.
  const { saidBytes: said, ...facts } = reader.facts;
  return { bytes: Buffer.concat(out), phases, facts, said, fault: reader.fault };
}

/** Every position there is: the stream byte by byte. */
export function everywhere(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length }, (_, index) => index);
}

/** Positions inside multi-byte characters. */
export function insideCharacters(bytes: Buffer): number[] {
  return everywhere(bytes).filter((index) => ((bytes[index] as number) & 0xc0) === 0x80);
}

export function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
