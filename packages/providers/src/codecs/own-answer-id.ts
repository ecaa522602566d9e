interface Named {
  answerId?: (() => string) | undefined;
  nowMs: number;
}

/**
 * What tells an answer from all others whose provider gives none an id, as AWS
 * does: clients that merge by id (LangGraph) would lose all but one of those
 * that began in the same millisecond.
 */
export function ownAnswerId({ answerId, nowMs }: Named): string {
  return answerId?.() ?? String(nowMs);
}
