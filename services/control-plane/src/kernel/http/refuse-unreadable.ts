import type { Server } from 'node:http';
import { requestIdHeader, shownRequestIdHeader } from '@sluice/contracts';
import { adminErrorBody, GatewayError } from '@sluice/errors';
import { answerUnreadable } from '@sluice/service';
import { newId } from '../names/ids.ts';

/**
 * Answers what is no HTTP (control characters in headers, too many of them,
 * headers that never end) in the envelope of every other refusal. Such a
 * request never reaches the app.
 */
export function refuseUnreadable(server: Server): void {
  answerUnreadable(server, (status) => {
    const requestId = newId();
    const refusal = new GatewayError('request.invalid_header', {
      status,
      message: 'The request cannot be read as HTTP.',
    });
    return {
      headers: {
        'content-type': 'application/json; charset=utf-8',
        [requestIdHeader]: requestId,
        [shownRequestIdHeader]: requestId,
      },
      body: JSON.stringify(adminErrorBody(refusal, requestId)),
    };
  });
}
