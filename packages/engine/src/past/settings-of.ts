import type { ResolvedTarget } from '../resolved-target.ts';

const texts = new WeakMap<ResolvedTarget, string>();

/**
 * All that a target does to a request, whom it asks included, as text: equal texts treat equal requests alike. Where
 * the target stands, and what opens its circuit, is no part of it.
 */
export function settingsOf(target: ResolvedTarget): string {
  let text = texts.get(target);
  if (text === undefined) {
    const { provider, overrideParams = {}, defaultParams = {} } = target;
    text = JSON.stringify([
      provider ?? null,
      overrideParams.model ?? null,
      defaultParams.model ?? null,
      treatmentOf(target),
    ]);
    texts.set(target, text);
  }
  return text;
}

const treatments = new WeakMap<ResolvedTarget, string>();

/** The same but for whom it asks, and for which model. */
export function treatmentOf(target: ResolvedTarget): string {
  let text = treatments.get(target);
  if (text === undefined) {
    const {
      index: _,
      path: __,
      name: ___,
      by: ____,
      provider: _____,
      customHostBy: ______,
      forwardHeadersBy: _______,
      breaker: ________,
      latencyPaths: _________,
      overrideParams,
      defaultParams,
      ...rest
    } = target;
    const settings = {
      ...rest,
      overrideParams: withoutModel(overrideParams),
      defaultParams: withoutModel(defaultParams),
    };
    text = JSON.stringify(settings, (_key, value: unknown) =>
      value instanceof Set ? [...value] : value,
    );
    treatments.set(target, text);
  }
  return text;
}

function withoutModel(params: Readonly<Record<string, unknown>> = {}) {
  const { model: _, ...rest } = params;
  return rest;
}
