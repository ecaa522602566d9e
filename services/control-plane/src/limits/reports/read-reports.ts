import type { config } from '@sluice/proto-stubs';
import { isUuid } from '../../kernel/names/ids.ts';
import { groupIdOf } from '../usage/group-id.ts';

/** What a gateway says of one counter. */
export interface ReportedCounter {
  readonly limitId: string;
  readonly workspaceId: string;
  readonly valueKey: string;
  readonly groupId: string;
  readonly generation: bigint;
  readonly periodStartMs: bigint;
  readonly posted: bigint;
  readonly reserved: bigint;
  readonly overshootBound: bigint;
  /** 0 = it does not say. */
  readonly countedAtUs: bigint;
}

/** In one report. */
const countersMax = 1_000;
const groupCharsMax = 16_384;
const bigintMax = 2n ** 63n - 1n;

/**
 * The counters of a report that can be kept, one for each limit and group, in a
 * fixed order: reports that come together cannot wait for each other's rows.
 * Counters of tokens, whose limits stand in no row here, are left out.
 */
export function readReports(reports: readonly config.CounterReport[]): ReportedCounter[] {
  const newest = new Map<string, ReportedCounter>();
  for (const report of reports.slice(0, countersMax)) {
    const counter = readReport(report);
    if (counter === undefined) continue;
    const name = `${counter.limitId} ${counter.groupId}`;
    const known = newest.get(name);
    if (known === undefined || !isOlder(counter, known)) newest.set(name, counter);
  }
  return [...newest].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, counter]) => counter);
}

function readReport(report: config.CounterReport): ReportedCounter | undefined {
  const epoch = /^(\d{1,18})\.(\d{1,16})$/.exec(report.epoch);
  if (epoch === null || !isUuid(report.limitId)) return undefined;
  const valueKey = report.group.replaceAll('\0', '').toWellFormed().slice(0, groupCharsMax);
  return {
    limitId: report.limitId.toLowerCase(),
    workspaceId: report.workspaceId,
    valueKey,
    groupId: groupIdOf(valueKey),
    generation: BigInt(epoch[1] as string),
    periodStartMs: BigInt(epoch[2] as string),
    posted: kept(report.posted),
    reserved: kept(report.reserved),
    overshootBound: kept(report.overshootBound),
    countedAtUs: report.countedAtUs < 0n ? 0n : report.countedAtUs,
  };
}

/** Periods begin one after the other, within one generations are raised, and within these counts follow each other. */
function isOlder(one: ReportedCounter, other: ReportedCounter): boolean {
  if (one.periodStartMs !== other.periodStartMs) return one.periodStartMs < other.periodStartMs;
  if (one.generation !== other.generation) return one.generation < other.generation;
  return one.countedAtUs < other.countedAtUs;
}

function kept(amount: bigint): bigint {
  return amount > bigintMax ? bigintMax : amount;
}
