import { folded } from './fold.ts';

/** What a call is about, whatever its generation calls it. */
export type MethodKind =
  | 'send'
  | 'stream'
  | 'get'
  | 'list'
  | 'cancel'
  | 'subscribe'
  | 'push'
  | 'card';

export interface AgentMethod {
  readonly kind: MethodKind;
  readonly version: '0.3' | '1.0';
}

const v0 = (kind: MethodKind): AgentMethod => ({ kind, version: '0.3' });
const v1 = (kind: MethodKind): AgentMethod => ({ kind, version: '1.0' });

/** JSON-RPC methods of A2A 0.3 (https://a2a-protocol.org/v0.3.0/specification) and 1.0, with the two of before. */
export const agentMethods: ReadonlyMap<string, AgentMethod> = new Map([
  ['message/send', v0('send')],
  ['message/stream', v0('stream')],
  ['tasks/send', v0('send')],
  ['tasks/sendSubscribe', v0('stream')],
  ['tasks/get', v0('get')],
  ['tasks/list', v0('list')],
  ['tasks/cancel', v0('cancel')],
  ['tasks/resubscribe', v0('subscribe')],
  ['tasks/pushNotificationConfig/set', v0('push')],
  ['tasks/pushNotificationConfig/get', v0('push')],
  ['tasks/pushNotificationConfig/list', v0('push')],
  ['tasks/pushNotificationConfig/delete', v0('push')],
  ['agent/getAuthenticatedExtendedCard', v0('card')],
  ['SendMessage', v1('send')],
  ['SendStreamingMessage', v1('stream')],
  ['GetTask', v1('get')],
  ['ListTasks', v1('list')],
  ['CancelTask', v1('cancel')],
  ['SubscribeToTask', v1('subscribe')],
  ['CreateTaskPushNotificationConfig', v1('push')],
  ['GetTaskPushNotificationConfig', v1('push')],
  ['ListTaskPushNotificationConfigs', v1('push')],
  ['DeleteTaskPushNotificationConfig', v1('push')],
  ['GetExtendedAgentCard', v1('card')],
]);

const foldedMethods = new Map([...agentMethods].map(([name, method]) => [folded(name), method]));

/** The method that servers may understand by a name: some look at no case. Undefined = nobody knows it. */
export function agentMethodOf(name: string): AgentMethod | undefined {
  return agentMethods.get(name) ?? foldedMethods.get(folded(name));
}
