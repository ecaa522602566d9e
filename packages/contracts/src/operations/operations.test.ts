import { describe, expect, it } from 'vitest';
import { jwtScopes, scopesOf } from '../scopes.ts';
import { endpoints, operationIds, operations } from './operations.ts';
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
      const { at, body, repeat } = operations[id];
      const [method] = at.split(' ');
      expect(body === 'none', id).toBe(method === 'GET' || method === 'DELETE');
      if (method === 'GET') expect(repeat, id).toBe('safe');
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

describe('requestTypes', () => {
  it('name every endpoint, once', () => {
    expect(requestTypes).toEqual(expect.arrayContaining(endpoints.map(({ id }) => id)));
    expect(new Set(requestTypes).size).toBe(requestTypes.length);
  });
});
