import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkRemainder, joinAgentPath, PathFault } from './agent-path.ts';
import { readAgentRequest } from './agent-request.ts';

const rpc = (method: string, params: unknown) =>
  readAgentRequest('POST', '/', { jsonrpc: '2.0', id: 7, method, params });
const tasksOf = (request: { taskIds: ReadonlySet<string> }) => [...request.taskIds];

describe('readAgentRequest', () => {
  it('knows methods of both generations, and the task each is about', () => {
    for (const [method, params, kind, version] of [
      ['message/send', { message: { taskId: 't', contextId: 'c' } }, 'send', '0.3'],
      ['message/stream', { message: { taskId: 't' } }, 'stream', '0.3'],
      ['tasks/get', { id: 't' }, 'get', '0.3'],
      ['tasks/cancel', { id: 't' }, 'cancel', '0.3'],
      ['tasks/resubscribe', { id: 't' }, 'subscribe', '0.3'],
      ['tasks/pushNotificationConfig/set', { taskId: 't' }, 'push', '0.3'],
      [
        'tasks/pushNotificationConfig/get',
        { id: 't', pushNotificationConfigId: 'p' },
        'push',
        '0.3',
      ],
      ['SendMessage', { message: { task_id: 't' } }, 'send', '1.0'],
      ['SendStreamingMessage', { message: { referenceTaskIds: ['t'] } }, 'stream', '1.0'],
      ['GetTask', { id: 't' }, 'get', '1.0'],
      ['GetTask', { name: 'tasks/t' }, 'get', '1.0'],
      ['CancelTask', { Id: 't' }, 'cancel', '1.0'],
      ['SubscribeToTask', { id: 't' }, 'subscribe', '1.0'],
      ['GetTaskPushNotificationConfig', { taskId: 't', id: 'config' }, 'push', '1.0'],
      ['SomethingNew', { id: 't' }, undefined, undefined],
    ] as const) {
      const request = rpc(method, params);
      expect(request, method).toMatchObject({ form: 'json-rpc', id: 7, method, kind, version });
      expect(tasksOf(request), method).toEqual(['t']);
    }
    expect(tasksOf(rpc('ListTasks', { contextId: 'c' }))).toEqual([]);
    expect([...rpc('message/send', { message: { contextId: 'c' } }).contextIds]).toEqual(['c']);
  });

  it('finds every address to call back, wherever either generation has it', () => {
    const url = 'https://callback.example/';
    for (const [method, params] of [
      ['tasks/pushNotificationConfig/set', { taskId: 't', pushNotificationConfig: { url } }],
      ['message/send', { configuration: { pushNotificationConfig: { url } } }],
      ['SendMessage', { configuration: { taskPushNotificationConfig: { url } } }],
      [
        'SendMessage',
        { configuration: { task_push_notification_config: { push_notification_config: { url } } } },
      ],
      ['CreateTaskPushNotificationConfig', { taskId: 't', url }],
      [
        'CreateTaskPushNotificationConfig',
        { parent: 'tasks/t', config: { pushNotificationConfig: { url } } },
      ],
    ] as const) {
      const { callbacks } = rpc(method, params);
      expect(
        callbacks.map((found) => found.url),
        JSON.stringify(params),
      ).toContain(url);
      for (const { path } of callbacks)
        expect(path.reduce<unknown>((at, name) => (at as never)?.[name], { params })).toBe(url);
    }
    const rest = readAgentRequest('POST', '/tasks/t/pushNotificationConfigs', { url });
    expect(rest.callbacks).toEqual([{ path: ['url'], url }]);
    expect(tasksOf(rest)).toEqual(['t']);
  });

  it('knows calls of REST by their paths, mounted anywhere and in any case', () => {
    for (const [httpMethod, path, method, kind, version] of [
      ['POST', '/message:send', 'SendMessage', 'send', undefined],
      ['POST', '/v1/message:stream', 'message/stream', 'stream', '0.3'],
      ['GET', '/tasks', 'ListTasks', 'list', undefined],
      ['GET', '/acme/tasks/t', 'GetTask', 'get', undefined],
      ['GET', '/a2a//TASKS/t/', 'GetTask', 'get', undefined],
      ['GET', '/tasks/%74', 'GetTask', 'get', undefined],
      ['POST', '/v1/tasks/t:cancel', 'tasks/cancel', 'cancel', '0.3'],
      ['POST', '/tasks/t%3Asubscribe', 'SubscribeToTask', 'subscribe', undefined],
      [
        'GET',
        '/tasks/t/pushNotificationConfigs/p',
        'GetTaskPushNotificationConfig',
        'push',
        undefined,
      ],
    ] as const) {
      const request = readAgentRequest(httpMethod, path, undefined);
      expect(request, path).toMatchObject({ form: 'rest', method, kind, version });
      expect(tasksOf(request), path).toEqual(/tasks\/./i.test(path) ? ['t'] : []);
    }
    expect(
      tasksOf(readAgentRequest('POST', '/message:send', { message: { taskId: 't' } })),
    ).toEqual(['t']);
    expect(tasksOf(readAgentRequest('GET', '/tasks/t:other', undefined))).toEqual(['t:other']);
  });

  it('knows where cards are asked for', () => {
    for (const path of [
      '/.well-known/agent-card.json',
      '/.well-known/agent.json',
      '/sub/.well-known/Agent-Card.json/',
      '//.well-known//agent%2Djson'.replace('%2Djson', '%2Ejson'),
      '/v1/card',
      '/extendedAgentCard',
      '/agent/authenticatedExtendedCard',
    ])
      expect(readAgentRequest('GET', path, undefined).form, path).toBe('card');
    expect(rpc('GetExtendedAgentCard', {}).kind).toBe('card');
    expect(rpc('agent/getAuthenticatedExtendedCard', undefined).kind).toBe('card');
  });

  it('reads as REST too what says that it is JSON-RPC: the server behind may look at the path alone', () => {
    const url = 'https://callback.example/';
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: {},
      message: { taskId: 't', contextId: 'c' },
      configuration: { pushNotificationConfig: { url } },
    };
    const asked = readAgentRequest('POST', '/message:send', body);
    expect(tasksOf(asked)).toEqual(['t']);
    expect([...asked.contextIds]).toEqual(['c']);
    expect(asked.callbacks).toEqual([
      { path: ['configuration', 'pushNotificationConfig', 'url'], url },
    ]);
    for (const method of ['GET', 'HEAD'])
      for (const [path, kind] of [
        ['/tasks', 'list'],
        ['/extendedAgentCard', 'card'],
      ] as const)
        expect(readAgentRequest(method, path, body).kind, path).toBe(kind);
    expect(readAgentRequest('POST', '/', body).kind).toBe('send');
  });

  it('knows methods in any case, and names within paths whatever follows them', () => {
    expect(rpc('TASKS/List', {}).kind).toBe('list');
    expect(rpc('list_tasks', {}).kind).toBe('list');
    expect(tasksOf(rpc('GetTask', { name: 'tenants/a/tasks/t' }))).toEqual(['t']);
    for (const path of ['/tasks;x=1', '/v1/tasks%3bx', '/Tasks;'])
      expect(readAgentRequest('GET', path, undefined).kind, path).toBe('list');
    // A server that does not cut it off knows another task by it.
    expect(tasksOf(readAgentRequest('GET', '/tasks;x/t;y', undefined))).toEqual(['t;y']);
    expect(readAgentRequest('GET', '/.well-known;x/agent-card.json', undefined).kind).toBe('card');
    expect(readAgentRequest('POST', '/tasks', undefined).kind).toBe('list');
  });

  it('reads whatever is sent without throwing', () => {
    fc.assert(
      fc.property(fc.string(), fc.webPath(), fc.jsonValue(), (method, path, body) => {
        readAgentRequest(method, path, body);
        rpc(method, body);
      }),
      { numRuns: 500 },
    );
  });
});

describe('checkRemainder', () => {
  it('refuses every spelling of a step upwards, and sends on all else', () => {
    for (const path of [
      '/..',
      '/../x',
      '/a/../b',
      '/./a',
      '/%2e%2e/a',
      '/.%2E/a',
      '/..;x=1/a',
      '/..%3b/a',
      '/a%2f..%2fb',
      '/a%5cb',
      '/a\\b',
      '/a%00',
      '/a%0d%0ax',
      '/a b',
      '/a#b',
      '/%zz',
      '/ä',
    ])
      expect(() => checkRemainder(path), path).toThrow(PathFault);
    for (const path of [
      '',
      '/',
      '/a',
      '/a%20b',
      '/...',
      '/..a',
      '/a..',
      '//a',
      '/tasks/t:cancel',
      '/%C3%A4',
      '/~x;y=1',
    ])
      expect(() => checkRemainder(path), path).not.toThrow();
  });
});

describe('joinAgentPath', () => {
  it('asks at the registered address exactly, or below it with the encoding that came', () => {
    const join = (base: string, remainder: string, search = '') =>
      joinAgentPath(new URL(base), remainder, search);
    expect(join('https://a.example/base', '')).toBe('/base');
    expect(join('https://a.example/base', '/')).toBe('/base');
    expect(join('https://a.example/base/', '')).toBe('/base/');
    expect(join('https://a.example/base/', '/x%20y/')).toBe('/base/x%20y/');
    expect(join('https://a.example', '/x', '?q=1')).toBe('/x?q=1');
    expect(join('https://a.example/base?key=1', '/x')).toBe('/base/x?key=1');
    expect(join('https://a.example/base?key=1', '', '?q=1')).toBe('/base?key=1&q=1');
  });
});
