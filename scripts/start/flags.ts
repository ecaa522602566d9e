import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { gatewayPortDefault, gatewayPortMax } from '@sluice/stack';

export interface StartFlags {
  /** `undefined`: `.sluice` in the checkout. */
  dataDir: string | undefined;
  port: number;
  json: boolean;
  reset: boolean;
  help: boolean;
}

/** A file, since it is shown before anything of ours can run. */
export const usage = readFileSync(new URL('usage.txt', import.meta.url), 'utf8');

/** As `parseArgs` has them. */
export const startFlags = {
  data: { type: 'string' },
  port: { type: 'string' },
  json: { type: 'boolean' },
  reset: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export class FlagError extends Error {}

/**
 * @param environment of npm, which keeps what stands before `--` for itself: `npm start --port=3000` is understood
 * @throws FlagError with a sentence for the person who typed them.
 */
export function parseStartFlags(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = {},
): StartFlags {
  const { values } = parse([...flagsOfNpm(environment), ...args]);
  const port = values.port === undefined ? gatewayPortDefault : Number(values.port);
  if (!Number.isInteger(port) || port < 1 || port > gatewayPortMax)
    throw new FlagError(
      `--port must be a number from 1 to ${gatewayPortMax}, and is "${values.port}".`,
    );
  if (values.data === '') throw new FlagError('--data must name a directory.');
  return {
    dataDir: values.data,
    port,
    json: values.json ?? false,
    reset: values.reset ?? false,
    help: values.help ?? false,
  };
}

/** Flags that npm took; it gives a value that stood apart to nobody who could tell whose it was. */
function flagsOfNpm(environment: Readonly<Record<string, string | undefined>>): string[] {
  return ['port', 'data', 'reset', 'json'].flatMap((name) => {
    const value = environment[`npm_config_${name}`];
    if (value === undefined || value === '' || value === 'false') return [];
    if (name === 'reset' || name === 'json') return [`--${name}`];
    if (value === 'true')
      throw new FlagError(
        `npm took --${name} for itself. Write npm start -- --${name} VALUE, or npm start --${name}=VALUE.`,
      );
    return [`--${name}=${value}`];
  });
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: false,
      options: startFlags,
    });
  } catch (error) {
    throw new FlagError(`${(error as Error).message.split('. ')[0]}. See npm start -- --help.`);
  }
}
