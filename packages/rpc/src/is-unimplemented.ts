/** What a control plane of the release before answers to what it does not know. */
export function isUnimplemented(error: unknown): boolean {
  return (error as { code?: number }).code === 12;
}
