import type { Response, Test } from 'supertest';

/** Sends again while the answer is 503: who waits for seconds on a busy machine is told that nothing is done. */
export async function whenNotBusy(send: () => Test): Promise<Response> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
  }
}
