import type { ParametersOf } from '@sluice/contracts/checks';
import { jsonBounds, readJson } from '@sluice/json';
import { type JsonObject, objectOf } from '@sluice/providers';
import { type CheckContext, CheckError, type CheckFunction, type HostAnswer } from '../check.ts';
import { toldContext } from '../told-context.ts';
import { toldHeaders } from '../told-headers.ts';

/** A host of the config's author decides, and may put another document in place of this event's. */
export function webhook({
  webhookURL,
  headers: written,
  forwardHeaders,
  subjects,
}: ParametersOf<'default.webhook'>): CheckFunction {
  const headers = toldHeaders(written);
  return async (context) => {
    const answer = await context.ask({
      url: webhookURL,
      headers,
      forwardHeaders,
      body: toldContext(context, subjects),
    });
    const { verdict, data, transformedData } = verdictIn(answer);
    return {
      verdict,
      data: {
        verdict,
        explanation: `The webhook says ${verdict ? 'yes' : 'no'}.`,
        ...(data === undefined ? {} : { webhookData: data }),
      },
      ...changedDocument(context, objectOf(transformedData)),
    };
  };
}

function verdictIn({ status, body }: HostAnswer) {
  if (status < 200 || status > 299)
    throw new CheckError('HostFailed', `The webhook answered with status ${status}.`);
  const answer = parsed(body);
  const verdict = answer?.verdict;
  if (answer === undefined || typeof verdict !== 'boolean')
    throw new CheckError('HostFailed', 'The webhook gave no verdict: true or false is expected.');
  return { verdict, data: answer.data, transformedData: answer.transformedData };
}

function parsed(body: Buffer): JsonObject | undefined {
  try {
    return objectOf(readJson(body, jsonBounds.small));
  } catch {
    // Not JSON, or more of it than a verdict has.
    return undefined;
  }
}

/** What is meant for the other event is not listened to. */
function changedDocument({ event }: CheckContext, changes: JsonObject | undefined) {
  if (event === 'beforeRequest') {
    const request = objectOf(objectOf(changes?.request)?.json);
    return request === undefined ? {} : { request };
  }
  const response = objectOf(objectOf(changes?.response)?.json);
  return response === undefined ? {} : { response };
}
