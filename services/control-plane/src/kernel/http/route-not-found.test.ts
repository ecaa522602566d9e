import type { NextFunction, Request, Response } from 'express';
import { expect, it } from 'vitest';
import { routeNotFound } from './route-not-found.ts';

const answer = routeNotFound([
  { method: 'get', path: '/analytics/graphs/requests' },
  { method: 'get', path: '/configs' },
  { method: 'post', path: '/configs' },
  { method: 'get', path: '/configs/{slug}' },
  { method: 'post', path: '/api-keys/{id}/rotate' },
]);

it.each([
  ['PATCH', '/v1/configs', ': this path takes GET, POST, and not PATCH.'],
  ['DELETE', '/v1/configs/pc-1/', ': this path takes GET, and not DELETE.'],
  ['GET', '/v1/analytics/graphs/request', '; did you mean /v1/analytics/graphs/requests?'],
  ['POST', '/v1/api-key/k-1/rotate', '; did you mean /v1/api-keys/k-1/rotate?'],
  ['GET', '/v1/nothing/like/it', '. GET /v1/openapi.json has them all.'],
  ['GET', `/v1/${'x'.repeat(5000)}`, '. GET /v1/openapi.json has them all.'],
])('says of %s %s what may have been meant', (method, path, advice) => {
  const request = { method, path } as Request;
  expect(() => answer(request, {} as Response, (() => {}) as NextFunction)).toThrow(
    `No such route${advice}`,
  );
});
