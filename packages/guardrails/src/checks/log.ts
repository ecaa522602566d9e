import type { ParametersOf } from '@sluice/contracts/checks';
import { CheckError, type CheckFunction } from '../check.ts';
import { toldContext } from '../told-context.ts';
import { toldHeaders } from '../told-headers.ts';

/** Tells a host of the config's author what was asked and answered. Decides nothing. */
export function log({
  logURL,
  headers: written,
  forwardHeaders,
  subjects,
}: ParametersOf<'default.log'>): CheckFunction {
  const headers = toldHeaders(written);
  return async (context) => {
    const { status } = await context.ask({
      url: logURL,
      headers,
      forwardHeaders,
      body: toldContext(context, subjects),
    });
    if (status < 200 || status > 299)
      throw new CheckError('HostFailed', `The log answered with status ${status}.`);
    return { verdict: true, data: { verdict: true, explanation: 'The log was told.' } };
  };
}
