import { dashboards, type Panel } from './dashboards.ts';

/** The text of deploy/grafana/<name>.json, for Grafana 10 and later. */
export function dashboardFile(name: string): string {
  const panels = dashboards[name];
  if (panels === undefined) throw new Error(`there is no dashboard ${name}`);
  return `${JSON.stringify(
    {
      uid: `sluice-${name}`,
      title: `Sluice: ${name}`,
      tags: ['sluice'],
      schemaVersion: 39,
      time: { from: 'now-6h', to: 'now' },
      refresh: '1m',
      templating: {
        list: [{ name: 'source', label: 'Source', type: 'datasource', query: 'prometheus' }],
      },
      panels: panels.map(shown),
    },
    undefined,
    2,
  )}\n`;
}

const source = { type: 'prometheus', uid: '$source' };
const [width, height] = [12, 8];

function shown({ title, unit, expressions }: Panel, index: number) {
  return {
    id: index + 1,
    title,
    type: 'timeseries',
    datasource: source,
    gridPos: {
      x: (index % 2) * width,
      y: Math.floor(index / 2) * height,
      w: width,
      h: height,
    },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: expressions.map((expr, at) => ({
      refId: String.fromCharCode(65 + at),
      datasource: source,
      expr,
    })),
  };
}
