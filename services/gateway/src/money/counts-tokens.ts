import type { Translation } from '@sluice/providers';
import { operationOf, type PreparedCall } from '../exchange/prepared-call.ts';
import type { ModelCall } from '../exchange/subject.ts';

/** A response in the background is billed when it is seen to have ended, whatever its beginning told. */
export function goesOn({ json }: ModelCall, { mode, callerFormat }: Translation): boolean {
  return json?.background === true && mode === 'native' && callerFormat === 'openai-responses';
}

/** Whether what a call uses is text for a model, in a form that we read. */
export function countsTokens(call: PreparedCall): boolean {
  const { translation } = call;
  const { subject } = call.requester;
  const { spends } = subject.operation;
  const { uses } = operationOf(call);
  return (
    translation !== undefined &&
    translation.isToldAlone !== true &&
    !goesOn(subject, translation) &&
    (subject.json !== undefined || subject.unreadBytes !== undefined) &&
    spends !== 'nothing' &&
    (uses === 'text' || uses === 'input')
  );
}
