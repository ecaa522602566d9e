import type { ArrivedRequest } from './arrived-request.ts';
import type { Identity } from './identity.ts';
import type { RequesterArrival } from './requester.ts';

/** For whom a server or an agent is called: the request that brought it, authenticated. An exchange is one. */
export interface EventRequester extends Omit<Identity, 'limits'> {
  readonly arrival: RequesterArrival & {
    readonly caller: Pick<ArrivedRequest['caller'], 'debug'>;
  };
}
