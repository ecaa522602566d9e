import { type ErrorCode, GatewayError } from '@sluice/errors';
import type { CompiledBundle } from '../compiled/compiled-bundle.ts';
import type { NewerBundles } from './newer-bundles.ts';

/** Errors that say no more than that a name is not known here. */
const unknownNames: ReadonlySet<ErrorCode> = new Set([
  'agent.not_found',
  'config.not_found',
  'config.prompt_not_found',
  'guardrail.not_found',
  'prompt.not_found',
  'provider.not_found',
]);

/** Who looked for a name, and in what. */
export interface Looking {
  bundle: CompiledBundle | undefined;
  /** Nobody is there to look again: what is not known for sure is not refused for good. */
  readonly isLine?: boolean;
}

/**
 * After a look-up that found nothing: what it looked for may have been made a
 * moment ago. Looks once more where there is a newer state to look in.
 * @throws the error of the look-up where there is none, and GatewayError `gateway.bundle_unavailable` where that is not known
 */
export function lookAgain<T>(
  looking: Looking,
  newer: Pick<NewerBundles, 'after'>,
  error: unknown,
  find: () => T,
): Promise<T> {
  const { bundle } = looking;
  if (bundle === undefined || !(error instanceof GatewayError)) throw error;
  if (!unknownNames.has(error.code)) throw error;
  return newer.after(bundle, looking.isLine).then((found) => {
    if (found === undefined) throw error;
    looking.bundle = found;
    return find();
  });
}
