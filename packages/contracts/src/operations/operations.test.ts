import { describe, expect, it } from 'vitest';
import { jwtScopes, scopesOf } from '../scopes.ts';
import { matchObject } from './match-object.ts';
import type { Operation } from './operation.ts';
import { endpoints, objectOperations, operationIds, operations } from './operations.ts';
import { requestTypes } from './request-types.ts';

describe('operations', () => {
  it('have an address each', () => {
    const addresses = operationIds.map((id) => operations[id].at);
    expect(new Set(addresses).size).toBe(addresses.length);
  });

  it('can be asked for by some key', () => {
    const held = new Set([...scopesOf('workspace-service'), ...jwtScopes]);
    for (const id of operationIds)
      expect(
        operations[id].scopes.some((scope) => held.has(scope)),
        id,
      ).toBe(true);
  });

  it('know what they are called', () => {
    for (const id of operationIds) expect(operations[id].id).toBe(id);
    expect(endpoints.map(({ id }) => operations[id])).toEqual(endpoints);
  });

  it('have a body where their method brings one, and are safe where it only reads', () => {
    for (const id of operationIds) {
      const operation: Operation = operations[id];
      const { at, repeat } = operation;
      const body = operation.about === 'object' ? operation.takes : operation.body;
      const [method] = at.split(' ');
      const isBodyless = method === 'GET' || method === 'DELETE';
      const isSession = operation.about === 'model' && operation.reply === 'session';
      expect(body === 'none' || body === 'nothing', id).toBe(isBodyless);
      if (method === 'GET') expect(repeat, id).toBe(isSession ? 'fresh' : 'safe');
    }
  });

  it('translate nothing that passes through', () => {
    for (const { id, body, format, cache, names } of endpoints)
      if (body === 'raw') {
        expect({ format, cache }, id).toEqual({ format: 'raw', cache: 'none' });
        expect(names.model, id).toBe('address');
      } else expect(format, id).not.toBe('raw');
  });
});

describe('matchObject', () => {
  it('finds every row at its address', () => {
    for (const { id, at } of objectOperations) {
      const [method = '', path = ''] = at.split(' ');
      const asked = path.replaceAll(':', 'the-').replace('*', '');
      const found = matchObject(method, asked);
      expect(found?.operation.id, at).toBe(id);
      for (const [name, value] of Object.entries(found?.parameters ?? {}))
        expect(value, at).toBe(`the-${name}`);
    }
  });

  it.each([
    ['GET', '/v1/responses/resp_1'],
    ['HEAD', '/v1/responses/resp_1'],
    ['GET', '/v1/proxy/responses/resp_1'],
    ['GET', '/v1//responses///resp_1//'],
    ['GET', '/v1/Responses/resp_1'],
    ['GET', '/v1/%72esponses/resp%5F1'],
    ['GET', '/v1/openai/v1/responses/resp_1'],
    ['GET', '/v1/proxy/openai/responses/resp_1'],
    ['GET', '/v1/anthropic/v1/responses/resp_1'],
    ['GET', '/v1/proxy/openai/deployments/a-model/responses/resp_1'],
  ])('takes %s %s for a look at a response', (method, path) => {
    const found = matchObject(method, path);
    expect(found?.operation.id).toBe('getModelResponse');
    expect(found?.parameters).toEqual({ response_id: 'resp_1' });
  });

  it.each([
    ['POST', '/v1/responses'],
    ['GET', '/v1/responses'],
    ['GET', '/v1/responses/resp_1/more'],
    ['PUT', '/v1/threads/thread_1'],
    ['GET', '/v1/responses/%zz'],
    ['GET', '/v1/evals/eval_1'],
    ['GET', `/v1${'/x'.repeat(100)}`],
  ])('knows no row of %s %s', (method, path) => {
    expect(matchObject(method, path)).toBeUndefined();
  });

  it('takes all of the name of a model', () => {
    const found = matchObject('GET', '/v1/models/@vendor/team/model%2Fa');
    expect(found?.parameters).toEqual({ model: '@vendor/team/model/a' });
  });

  it('tells a run of a new thread from a thread called runs', () => {
    expect(matchObject('POST', '/v1/threads/runs')?.operation.id).toBe('createThreadAndRun');
    expect(matchObject('GET', '/v1/threads/runs')?.operation.id).toBe('getThread');
  });
});

describe('requestTypes', () => {
  it('name every endpoint, once', () => {
    expect(requestTypes).toEqual(expect.arrayContaining(endpoints.map(({ id }) => id)));
    expect(requestTypes).toEqual(
      expect.arrayContaining(['getModelResponse', 'uploadFile', 'listFinetunes', 'realtime']),
    );
    expect(new Set(requestTypes).size).toBe(requestTypes.length);
  });
});
