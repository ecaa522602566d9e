import type { PastRequest, UnknownReason } from '../past/past-request.ts';
import type { ResolvedTarget } from '../resolved-target.ts';

export interface NamedTarget {
  /** `@slug`, or the catalogue's id. */
  readonly provider: string;
  readonly model: string;
}

/** Whom a target would ask for which model: what the config leaves to the request, the request said, if that is known. */
export function nameTarget(
  { provider, overrideParams, defaultParams }: ResolvedTarget,
  past: PastRequest,
): NamedTarget | UnknownReason {
  const override = overrideParams?.model;
  const sent = modelThen(past);
  const model =
    typeof override === 'string'
      ? override
      : sent === '' && typeof defaultParams?.model === 'string'
        ? defaultParams.model
        : sent;
  if (provider !== undefined) return named(split(provider), model);
  if (isReference(override)) return named(split(override), model);
  if (past.provider !== undefined) return named({ reference: past.provider }, model);
  if (isReference(model)) return named(split(model), model);
  return model === undefined ? 'body_not_kept' : 'headers_not_kept';
}

/** As the body has it; undefined = nobody knows. */
function modelThen({ facts, knowsParams }: PastRequest): string | undefined {
  const { model } = facts.params;
  if (typeof model === 'string') return model;
  return knowsParams ? '' : undefined;
}

function named(
  { reference, model: own }: { reference: string; model?: string | undefined },
  model: string | undefined,
): NamedTarget | UnknownReason {
  if (own !== undefined) return { provider: reference, model: own };
  if (model === undefined) return 'body_not_kept';
  return { provider: reference, model: isReference(model) ? (split(model).model ?? '') : model };
}

function isReference(model: unknown): model is string {
  return typeof model === 'string' && model.startsWith('@') && model.includes('/');
}

function split(reference: string): { reference: string; model?: string | undefined } {
  if (!isReference(reference)) return { reference };
  const slash = reference.indexOf('/');
  return { reference: reference.slice(0, slash), model: reference.slice(slash + 1) };
}
