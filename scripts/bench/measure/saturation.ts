import type { Figure } from '../figure.ts';
import type { Place } from '../place.ts';
import { targets } from '../targets.ts';
import { interleave, median, type Workbench } from '../workbench.ts';

/**
 * Requests a second when callers ask as fast as they are answered. The upstream
 * alone is measured too: what comes near it was limited by the bench, not by the proxy.
 */
export async function measureSaturation(bench: Workbench): Promise<Figure[]> {
  const places: Place[] = [
    ...bench.subjects,
    { name: 'upstream', url: bench.upstreamUrl, headers: {} },
  ];
  const results = await interleave(bench, places, bench.quick ? 1 : 3, {
    connections: 64,
    requestsMax: 1_000_000,
    durationMsMax: bench.quick ? 3_000 : 10_000,
  });
  const bare = median(results[0]!.map((round) => round.requestsPerSecond));
  return places.map((place, index) => {
    const values = results[index]!.map((round) => round.requestsPerSecond);
    const share = Math.round(median(results[index]!.map((round) => round.coreShare)) * 100);
    const common: Figure = {
      subject: place.name,
      figure: 'saturation on one core',
      unit: 'RPS',
      measured: median(values),
      rounds: values,
      note: place.pid === undefined ? 'the bench’s own ceiling' : `core ${share} % busy`,
    };
    if (index === 0 || place.pid === undefined) return common;
    const pairedRatio = median(
      values.map((value, round) => value / results[0]![round]!.requestsPerSecond),
    );
    return { ...common, bare, pairedRatio, judged: 'ratio', target: targets.saturationRatio };
  });
}
