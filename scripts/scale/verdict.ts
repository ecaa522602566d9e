import type { ScaleFigures } from './measure-scale.ts';

export interface Aim {
  readonly name: string;
  readonly value: number;
  readonly max: number;
  readonly unit: string;
}

/** What one control plane is to bear. */
export function aimsOf(figures: ScaleFigures): Aim[] {
  return [
    { name: 'all fresh after the restart', value: figures.freshMs, max: 10_000, unit: 'ms' },
    { name: 'control plane, RSS at its peak', value: figures.peakRssMb, max: 500, unit: 'MB' },
    { name: 'admin calls meanwhile, p95', value: figures.adminP95Ms, max: 300, unit: 'ms' },
    {
      name: 'bundles asked for that had not changed',
      value: Math.max(0, figures.bundlesAsked - figures.bundlesChanged),
      max: 0,
      unit: '',
    },
    {
      name: 'keys asked for that had not changed',
      value: Math.max(0, figures.keysAsked - figures.keysChanged) + figures.keyListsAsked,
      max: 0,
      unit: '',
    },
    { name: 'one change: bytes told to others', value: figures.othersBytes, max: 0, unit: 'B' },
    { name: 'one change: asked by others', value: figures.othersAsked, max: 0, unit: '' },
  ];
}
