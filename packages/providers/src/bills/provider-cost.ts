const nanoUsdPerUsd = 1e9;
/** xAI tells ten-billionths of a dollar. */
const ticksPerNanoUsd = 10;

/** Dollars as a provider tells them; undefined for what is no amount, or none that integers hold. */
export function nanoUsdOfDollars(dollars: unknown): number | undefined {
  return typeof dollars === 'number' ? exact(dollars * nanoUsdPerUsd) : undefined;
}

export function nanoUsdOfTicks(ticks: unknown): number | undefined {
  return typeof ticks === 'number' ? exact(ticks / ticksPerNanoUsd) : undefined;
}

function exact(nanoUsd: number): number | undefined {
  const whole = Math.round(nanoUsd);
  return whole >= 0 && Number.isSafeInteger(whole) ? whole : undefined;
}
