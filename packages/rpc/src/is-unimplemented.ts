/** What a control plane of the release before answers to what it does not know. @param error whatever was thrown, or caused that */
export function isUnimplemented(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === 12;
}
