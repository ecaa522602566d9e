import { z } from 'zod';
import type { CheckDeclaration } from '../declaration.ts';
import {
  anyText,
  flag,
  not,
  optionalTexts,
  parameters,
  subjects,
  timeoutMs,
} from '../parameter-fields.ts';

/** `example.com`, or `*.example.com` for all below it. */
const hostPattern = z
  .string()
  .regex(
    /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9-]{1,63}$/,
    'must be a host, in small letters, or *. and one',
  );
const hosts = z.array(hostPattern).max(1_000);

/** Checks of pictures that stand elsewhere. */
export const imageChecks = {
  'default.imageHosts': {
    parameters: parameters({
      /** Where pictures may stand; none may where nothing is said. */
      allowedHosts: hosts.default([]),
      /** Whether links are looked at, too. */
      links: flag(false),
      redact: flag(false),
      redactText: anyText.default('[image removed]'),
      not,
      subjects,
    }),
  },
  'default.inlineImageUrls': {
    judges: 'parameters',
    parameters: parameters({
      /** Whose requests are changed; all where nothing is said. */
      providers: optionalTexts,
      maxSizeBytes: z.int().min(1).max(52_428_800).default(20_971_520),
      timeoutMs: timeoutMs(30_000),
      allowedHosts: hosts.optional(),
      failOnError: flag(false),
    }),
  },
} satisfies Record<string, CheckDeclaration>;
