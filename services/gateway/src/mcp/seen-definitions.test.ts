import { eventually } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import type { SeenReport } from '../held/config-source.ts';
import { SeenDefinitions, type SeenList } from './seen-definitions.ts';

function reporter() {
  const reports: SeenReport[] = [];
  const faults: unknown[] = [];
  let isAway = false;
  const seen = new SeenDefinitions({
    report: async (report) => {
      if (isAway) throw new Error('away');
      reports.push(report);
    },
    onFault: (error) => faults.push(error),
  });
  return { reports, faults, seen, away: (value: boolean) => (isAway = value) };
}

const item = (name: string, text = name) => ({
  name,
  hash: text.padEnd(64, '0'),
  bytes: Buffer.from(JSON.stringify({ name, text })),
});
const list = (items: SeenList['items'], isComplete = true, pins = 'p'): SeenList => ({
  organisationId: 'o',
  integrationId: 'i',
  type: 'tool',
  items,
  isComplete,
  pins,
});
const namesIn = (report: SeenReport | undefined) => report?.seen?.map(({ name }) => name);

describe('SeenDefinitions', () => {
  it('tells a list once, and again when something of it changed or is gone', async () => {
    const { seen, reports } = reporter();
    seen.see(list([item('a'), item('b')]));
    await eventually(() => reports.length === 1);
    expect(reports[0]).toMatchObject({ isComplete: true, completeTypes: ['tool'] });
    expect(reports[0]?.seen?.[0]).toMatchObject({
      type: 'tool',
      name: 'a',
      definitionJson: '{"name":"a","text":"a"}',
    });
    seen.see(list([item('a'), item('b')]));
    seen.see(list([item('a'), item('b', 'c')]));
    await eventually(() => reports.length === 2);
    seen.see(list([item('a')]));
    await eventually(() => reports.length === 3);
    expect(namesIn(reports[2])).toEqual(['a']);
  });

  it('tells again what was told under other pins: a late report of another gateway may have undone it', async () => {
    const { seen, reports } = reporter();
    seen.see(list([item('a')]));
    await eventually(() => reports.length === 1);
    seen.see(list([item('a')], true, 'withheld'));
    await eventually(() => reports.length === 2);
    seen.see(list([item('a')], true, 'withheld'));
    expect(reports.map(({ seen: told }) => told?.length)).toEqual([1, 1]);
    expect(reports[1]?.ageMs).toBeLessThan(10_000);
  });

  it('tells of a page what is new in it, and of nothing that it is whole', async () => {
    const { seen, reports } = reporter();
    seen.see(list([item('a')], false));
    await eventually(() => reports.length === 1);
    seen.see(list([item('a'), item('b')], false));
    await eventually(() => reports.length === 2);
    expect(reports[1]).toMatchObject({ isComplete: false, completeTypes: [] });
    expect(namesIn(reports[1])).toEqual(['b']);
  });

  it('splits what is too much for one report, and sends no definition beyond measure', async () => {
    const { seen, reports } = reporter();
    const many = Array.from({ length: 1_001 }, (_, at) => item(`tool-${at}`));
    seen.see(list([...many, { ...item('large'), bytes: Buffer.alloc(70_000, 'x') }]));
    await eventually(() => reports.length === 3);
    expect(reports.map(({ seen: part }) => part?.length)).toEqual([500, 500, 2]);
    expect(reports.every(({ isComplete }) => isComplete === false)).toBe(true);
    expect(reports[2]?.seen?.[1]).toMatchObject({ name: 'large', definitionJson: '' });
  });

  it('tells again what could not be told', async () => {
    const { seen, reports, faults, away } = reporter();
    away(true);
    seen.see(list([item('a')]));
    await eventually(() => faults.length === 1);
    away(false);
    seen.see(list([item('a')]));
    await eventually(() => reports.length === 1);
  });
});
