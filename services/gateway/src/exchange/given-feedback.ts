/** What a guardrail thinks of a trace. */
export interface GivenFeedback {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly traceId: string;
  readonly value: number;
  readonly weight: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}
