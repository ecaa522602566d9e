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

export class FlagError extends Error {}

export const usage = `Usage: npm start -- [options]

Starts Sluice on this machine, with everything it needs, and keeps running.

  --data DIR   where data is kept (default .sluice)
  --port N     the gateway's port (default ${gatewayPortDefault}); the other parts use the ports after it
  --json       print the credentials as one line of JSON when ready, and nothing else on stdout
               (npm prints its own lines there first, unless it is called with --silent)
  --reset      delete the data directory first
  --help       show this text
`;

/** @throws FlagError with a sentence for the person who typed them. */
export function parseStartFlags(args: readonly string[]): StartFlags {
  const { values } = parse(args);
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

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: false,
      options: {
        data: { type: 'string' },
        port: { type: 'string' },
        json: { type: 'boolean' },
        reset: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new FlagError(`${(error as Error).message.split('. ')[0]}. See npm start -- --help.`);
  }
}
