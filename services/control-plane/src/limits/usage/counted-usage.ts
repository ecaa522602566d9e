/** A counter after a report, as it is now. */
export interface CountedUsage {
  readonly limitId: string;
  readonly groupId: string;
  readonly valueKey: string;
  readonly generation: bigint;
  readonly periodStartMs: bigint;
  readonly posted: bigint;
  readonly thresholdAlertSent: boolean;
  readonly exhaustedAlertSent: boolean;
}
