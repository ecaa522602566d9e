import type { Endpoint } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { RequestHandler } from 'express';
import { nearestOf } from '../names/nearest.ts';

type Address = Pick<Endpoint, 'method' | 'path'>;

/** Answers what no operation took: with what its path takes, or the path that may have been meant. */
export function routeNotFound(endpoints: readonly Address[]): RequestHandler {
  return (req) => {
    throw new GatewayError('request.route_not_found', {
      message: `No such route${adviceFor(req.method, req.path, endpoints)}`,
    });
  };
}

function adviceFor(method: string, address: string, endpoints: readonly Address[]): string {
  const path = address.replace(/^\/v1(?=\/)/, '').replace(/\/$/, '');
  const there = endpoints.filter((each) => withParameters(each.path, path) === path);
  if (there.length > 0) {
    const methods = [...new Set(there.map((each) => each.method.toUpperCase()))].sort();
    return `: this path takes ${methods.join(', ')}, and not ${method}.`;
  }
  const known = [...new Set(endpoints.map((each) => withParameters(each.path, path)))];
  const nearest = nearestOf(path, known);
  return nearest === undefined
    ? '. GET /v1/openapi.json has them all.'
    : `; did you mean /v1${nearest}?`;
}

/** A published path with the segments of an address where it has parameters. */
function withParameters(published: string, address: string): string {
  const sent = address.split('/');
  return published
    .split('/')
    .map((segment, at) => (segment.startsWith('{') ? sent[at] || segment : segment))
    .join('/');
}
