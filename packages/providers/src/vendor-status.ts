import type { JsonValue } from './contract.ts';

export interface VendorStatus<Status extends string> {
  readonly status: Status;
  /** In the vendor's words, where it has none in ours. */
  readonly providerStatus?: string;
}

/**
 * A vendor's state in OpenAI's words. One that no table knows is taken for work
 * that goes on, so that it is followed to its end, and is told in the vendor's words.
 */
export function statusIn<Status extends string>(
  states: Readonly<Record<string, Status>>,
  told: JsonValue | undefined,
  goingOn: NoInfer<Status>,
): VendorStatus<Status> {
  const state = typeof told === 'string' ? told : '';
  const status = Object.hasOwn(states, state) ? states[state] : undefined;
  if (status !== undefined) return { status };
  return state === '' ? { status: goingOn } : { status: goingOn, providerStatus: state };
}
