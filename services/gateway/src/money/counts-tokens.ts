import type { PreparedCall } from '../exchange/prepared-call.ts';

/** Whether what a call uses is text for a model, in a form that we read. */
export function countsTokens({ requester: { subject }, translation }: PreparedCall): boolean {
  const { spends, uses } = subject.operation;
  return (
    translation !== undefined &&
    subject.json !== undefined &&
    spends !== 'nothing' &&
    (uses === 'text' || uses === 'input')
  );
}
