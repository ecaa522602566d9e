/**
 * A number as a vendor takes it: the nearest one of its range. Named as dropped where
 * that is another than what was asked for; within `same` it is not.
 */
export function withinRange<T extends number | undefined>(
  value: T,
  range: readonly [least: number, most: number],
  name: string,
  dropped: string[],
  same = range,
): T {
  if (value === undefined) return value;
  if (value < same[0] || value > same[1]) dropped.push(name);
  return Math.min(range[1], Math.max(range[0], value)) as T;
}
