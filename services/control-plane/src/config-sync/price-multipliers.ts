/** Factors by price key, units as `additional_units.<name>` and images as `image.default`: what is null inherits. */
export function priceMultipliers(adjustments: unknown): Record<string, number> {
  const { multiplier } = (adjustments ?? {}) as { multiplier?: Readonly<Record<string, unknown>> };
  const factors: [string, number][] = [];
  const add = (name: string, value: unknown): void => {
    if (typeof value === 'number') factors.push([name, value]);
  };
  for (const [name, value] of Object.entries(multiplier ?? {}))
    if (typeof value === 'object' && value !== null)
      for (const [unit, factor] of Object.entries(value)) add(`${name}.${unit}`, factor);
    else add(name, value);
  return Object.fromEntries(factors.sort(([a], [b]) => (a < b ? -1 : 1)));
}
