import type { AttemptListener, OutcomeListener } from '../exchange/prepared-call.ts';

const finish: OutcomeListener = ({ call }) => call.reservation?.finish();

/** Nothing that is held for a call goes back before it is over. */
export const holdAttempt: AttemptListener = ({ call }) => {
  if (call.reservation === undefined) return undefined;
  call.reservation.begin();
  return finish;
};
