import { z } from 'zod';

/**
 * When checks of answers look at a stream: at its end, when it is given; at a
 * window that is held back; at each sentence before it is given.
 */
export const streamModes = ['end', 'window', 'sentence'] as const;

export type StreamMode = (typeof streamModes)[number];

/** What of a stream is held back for checks: by characters of a text, and by time. */
export const holdBounds = {
  chars: { min: 32, max: 16_384, default: 256 },
  ms: { min: 50, max: 30_000, default: 1_000 },
} as const;

/** What a guardrail or a hook says of streams. */
export const streamFields = {
  stream_mode: z.enum(streamModes).optional(),
  hold_chars: z.int().min(holdBounds.chars.min).max(holdBounds.chars.max).optional(),
  hold_ms: z.int().min(holdBounds.ms.min).max(holdBounds.ms.max).optional(),
};
