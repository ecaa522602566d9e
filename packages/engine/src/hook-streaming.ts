import { holdBounds, type JsonObject, type JsonValue, streamModes } from '@sluice/contracts';
import { configFault } from './config-fault.ts';

/** How a hook looks at streamed answers before they are given. */
export interface HookStreaming {
  readonly mode: 'window' | 'sentence';
  /** Of each text of the answer. */
  readonly holdChars: number;
  readonly holdMs: number;
}

/** What is said of streams; `given` holds where nothing is. Undefined = they are looked at when they are over. @throws GatewayError `config.invalid` */
export function readStreaming(
  said: JsonObject,
  path: string,
  given?: HookStreaming | undefined,
): HookStreaming | undefined {
  const mode = either(said.stream_mode, said.streamMode) ?? given?.mode ?? 'end';
  const known = streamModes.find((name) => name === mode);
  if (known === undefined)
    throw configFault(`${path}.stream_mode`, `must be one of ${streamModes.join(', ')}`);
  const chars = either(said.hold_chars, said.holdChars);
  const ms = either(said.hold_ms, said.holdMs);
  const holdChars = within(chars, 'chars', `${path}.hold_chars`) ?? given?.holdChars;
  const holdMs = within(ms, 'ms', `${path}.hold_ms`) ?? given?.holdMs;
  if (known === 'end') return undefined;
  return {
    mode: known,
    holdChars: holdChars ?? holdBounds.chars.default,
    holdMs: holdMs ?? holdBounds.ms.default,
  };
}

/** Whether a hook says anything of streams. */
export function saysStreaming(said: JsonObject): boolean {
  return streamingKeys.some((key) => said[key] !== undefined);
}

export const streamingKeys: readonly string[] = [
  'stream_mode',
  'streamMode',
  'hold_chars',
  'holdChars',
  'hold_ms',
  'holdMs',
];

function either(
  first: JsonValue | undefined,
  second: JsonValue | undefined,
): JsonValue | undefined {
  return first ?? second ?? undefined;
}

function within(
  value: JsonValue | undefined,
  of: keyof typeof holdBounds,
  path: string,
): number | undefined {
  if (value === undefined) return undefined;
  const { min, max } = holdBounds[of];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max)
    throw configFault(path, `must be a whole number from ${min} to ${max}`);
  return value;
}
