import { z } from 'zod';
import { openObject } from '../fields/kept-only.ts';
import { flag, forwardHeaders, not, parameters, subjects, timeoutMs } from './parameter-fields.ts';

/** Fields of checks that other services make. */

/** A key or token, as a header can carry it. */
export const secret = z
  .string()
  .min(1)
  .max(8192)
  .regex(/^[\x21-\x7e]+$/, 'must be what a header can carry');

/** Where a partner is asked: it takes the place of the address that the partner publishes. */
export const baseAddress = z
  .string()
  .max(2048)
  .refine(isBaseAddress, 'must be an http or https URL without user, query or fragment');

function isBaseAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}

/** The name of a host, which an address is made of. */
export const hostName = z
  .string()
  .max(255)
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?$/, 'must be the name of a host');

/** One part of such a name. */
export const hostLabel = z
  .string()
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/, 'must be one part of a host’s name');

/**
 * Absent is for guardrails whose credentials a config says; where nobody does,
 * the check cannot decide. What is there must be whole.
 */
export const credentials = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  openObject(shape).optional();

export const apiKey = credentials({ apiKey: secret });

/** What every partner can be told, and what is this one's own. */
export const partnerParameters = <Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  timeout = 5000,
) =>
  parameters({
    ...shape,
    not,
    subjects,
    forwardHeaders,
    timeout: timeoutMs(timeout),
    failOnError: flag(false),
  });
