import type { ResolvedKey } from '../compiled/resolved-key.ts';
import type { ForeseenUse } from './call-meter.ts';

/** Of a call of a server or an agent that is explained: whose it would be. */
export interface ShownKey {
  readonly id: string;
  readonly name: string;
  readonly slug: string | null;
  readonly workspace_id: string;
}

export function shownKey({ source }: ResolvedKey): ShownKey {
  const { id, name, slug, workspaceId } = source;
  return { id, name, slug: slug === '' ? null : slug, workspace_id: workspaceId };
}

export interface ShownUse {
  /** US cents; null where the call costs nothing. */
  readonly price: { call: number; token: number } | null;
  /** What limits hold of it. */
  readonly estimate: { input_tokens: number; tokens: number; cost_nano_usd: number } | null;
}

const nanoInCent = 10_000_000;

/** @param foreseen undefined = it uses nothing */
export function shownUse(foreseen: ForeseenUse | undefined): ShownUse {
  if (foreseen === undefined) return { price: null, estimate: null };
  const { price, inputTokens, estimate } = foreseen;
  const { callNanoUsd, tokenNanoUsd } = price;
  return {
    price:
      callNanoUsd + tokenNanoUsd === 0
        ? null
        : { call: callNanoUsd / nanoInCent, token: tokenNanoUsd / nanoInCent },
    estimate: {
      input_tokens: inputTokens,
      tokens: estimate.tokens,
      cost_nano_usd: estimate.costNanoUsd,
    },
  };
}
