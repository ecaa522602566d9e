import { parseArgs } from 'node:util';
import type { CommandLine } from './subject.ts';

export const measurementNames = [
  'unary',
  'stream',
  'translated',
  'saturation',
  'latency',
  'ttfb',
  'open',
  'streams',
  'rss',
  'cold',
  'admin',
  'operations',
  'limits',
  'bodies',
  'guardrails',
  'held',
  'routing',
  'mcp',
  'a2a',
  'realtime',
  'semantic',
  'batches',
] as const;
export type MeasurementName = (typeof measurementNames)[number];

export interface Flags {
  quick: boolean;
  only: ReadonlySet<MeasurementName>;
  jsonFile: string | undefined;
  /** Measures a second bare proxy as well: each of its ratios should be 1. */
  selfCheck: boolean;
  withoutSluice: boolean;
  other: CommandLine | undefined;
  upstreamPort: number;
  /** How many streams `streams` begins at once. */
  openStreams: number | undefined;
}

export const usage = `npm run bench -- [flags]
  --quick                     some minutes: fewer and shorter rounds
  --only a,b                  some of: ${measurementNames.join(', ')}
  --open N                    how many streams are begun at once by streams; default 5,000
  --json FILE                 also write every figure to a file
  --self-check                measure a second bare proxy as well, whose ratios should be 1, and say whether
                              the machine was quiet enough
  --gateway-cmd "COMMAND"     also run another gateway from this shell command line; {upstream} becomes
                              the upstream's base URL, ending in /v1
  --gateway-url URL           its base URL, e.g. http://127.0.0.1:8790/v1
  --gateway-header 'k: v'     a header for it, repeatable; {upstream} is replaced here too
  --without-sluice            measure only the other gateway
  --upstream-port N           port of the bench's upstream; default any`;

/** @throws Error with a sentence about the flag that is wrong */
export function parseFlags(argv: string[]): Flags | 'help' {
  const { values } = parseArgs({
    args: argv,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      open: { type: 'string' },
      json: { type: 'string' },
      'self-check': { type: 'boolean', default: false },
      'without-sluice': { type: 'boolean', default: false },
      'gateway-cmd': { type: 'string' },
      'gateway-url': { type: 'string' },
      'gateway-header': { type: 'string', multiple: true, default: [] },
      'upstream-port': { type: 'string', default: '0' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  return {
    quick: values.quick,
    only: parseOnly(values.only),
    jsonFile: values.json,
    selfCheck: values['self-check'],
    withoutSluice: values['without-sluice'],
    other: parseOther(values['gateway-cmd'], values['gateway-url'], values['gateway-header']),
    upstreamPort: Number(values['upstream-port']),
    openStreams: parseOpen(values.open),
  };
}

function parseOpen(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 9_000)
    throw new Error(`--open must be a number from 1 to 9000, and is ${text}`);
  return count;
}

function parseOnly(text: string | undefined): ReadonlySet<MeasurementName> {
  const names = text === undefined ? measurementNames : text.split(',').map((name) => name.trim());
  for (const name of names) {
    if (!(measurementNames as readonly string[]).includes(name))
      throw new Error(`--only knows ${measurementNames.join(', ')}; not ${name}`);
  }
  return new Set(names as MeasurementName[]);
}

function parseOther(
  command: string | undefined,
  url: string | undefined,
  headers: string[],
): CommandLine | undefined {
  if (command === undefined && url === undefined) return undefined;
  if (command === undefined || url === undefined)
    throw new Error('--gateway-cmd and --gateway-url belong together');
  if (!URL.canParse(url) || new URL(url).protocol !== 'http:' || new URL(url).port === '')
    throw new Error('--gateway-url must look like http://127.0.0.1:8790/v1');
  const pairs = headers.map((header) => {
    const colon = header.indexOf(':');
    if (colon < 1) throw new Error(`--gateway-header must look like 'name: value', not ${header}`);
    return [header.slice(0, colon).trim().toLowerCase(), header.slice(colon + 1).trim()];
  });
  return { command, url, headers: Object.fromEntries(pairs) as Record<string, string> };
}
